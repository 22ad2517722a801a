// SPDX-License-Identifier: BSD-3-Clause
// What the data path reads about this PE: plain values in a few cache lines, filled by World, constant until finalize.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shmem/types.h"
#include "src/base/process.h"
#include "src/plugin/network.h"
#include "src/plugin/segment.h"
#include "src/rma/spin_policy.h"
#include "src/topology/pe_set.h"

namespace railshmem {

class ContextTable;
class Liveness;
class Choice;
class LockTurns;
class ScratchSlots;
class DeviceAccess;
namespace observe {
class Observer;
}

/// One symmetric segment and the PEs that can be reached in it by load and store: those of slots first_slot up to
/// first_slot + slots - 1. A peer's address is arithmetic, no table: node_base + slot * stride + offset.
struct SegmentView {
  uintptr_t base = 0;       ///< this PE's own address
  size_t nbytes = 0;        ///< 0: no such segment
  uintptr_t node_base = 0;  ///< address here of slot 0's copy; this PE's own when only that is mapped (stride 0)
  size_t stride = 0;
  int first_slot = 0;
  int slots = 0;
};

/// An OpenSHMEM context: its quiet and fence cover exactly its own operations.
struct Context {
  NetContext* net = nullptr;   ///< null when no network runs
  const PeSet* pes = nullptr;  ///< the team whose ranks its calls name; null: PEs of the world
  shmem_team_t team = SHMEM_TEAM_WORLD;
  long options = 0;  ///< SHMEM_CTX_*
  int thread = 0;    ///< SHMEM_CHECK: system number of the thread that made a SHMEM_CTX_PRIVATE context
};

struct PeState {
  int me = 0;
  int npes = 1;
  /// Records or checks calls; null in most jobs, and then all it costs is the look at this pointer.
  observe::Observer* observer = nullptr;
  /// Set in jobs with a heap in device memory: addresses may be ones that the CPU cannot use.
  DeviceAccess* device = nullptr;
  SegmentView segment[kSegments];
  const char* why_no_globals = nullptr;  ///< why the data segment is empty and what to do; null where it is not
  int first_pe_of_node = 0;              ///< PE of slot 0
  /// Slot of each PE, -1 off the node; null when the node's PEs are consecutive (the common case, no table then).
  const int32_t* slot_of_pe = nullptr;
  Network* network = nullptr;
  /// Some PE is reached by load and store in one segment and through the network in the other: see fence().
  bool mixed_reach = false;
  Context default_context;
  ContextTable* contexts = nullptr;  ///< all others
  SpinPolicy spin;
  Liveness* liveness = nullptr;
  bool calls_compared = false;          ///< SHMEM_CHECK: collective calls are known to agree
  const Choice* choice = nullptr;       ///< algorithms of collectives
  ScratchSlots* scratch_slots[2] = {};  ///< in the host heap and in the device heap; null: no scratch slots
  size_t collective_chunk = 0;          ///< bytes of a chunk between nodes; 0: by the size of the call
  LockTurns* lock_turns = nullptr;      ///< only with SHMEM_THREAD_MULTIPLE
  /// The job has ended: what still waits waits in vain. relaxed: whoever sees it late ends late.
  std::atomic<bool> ended{false};

  int slot(int pe) const noexcept { return slot_of_pe ? slot_of_pe[pe] : pe - first_pe_of_node; }
};

/// Slow path of pe_state(): a PE bound to this thread, or the end of the job with a message naming `function`.
[[gnu::cold]] PeState& find_pe_state(const char* function) noexcept;

inline PeState& pe_state(const char* function) noexcept {
  PeState* state = g_process.pe_state.load(std::memory_order_relaxed);
  if (state) [[likely]]
    return *state;
  return find_pe_state(function);
}

/// Binds a PE to the calling thread (loopback jobs: PEs are threads of one process); null unbinds.
void bind_pe_state(PeState* state) noexcept;
/// The PE bound to the process or thread, or null.
PeState* bound_pe_state() noexcept;

/// What find_pe_state() says if none exists.
void set_absence(Absence absence) noexcept;
Absence absence() noexcept;
/// Whether this process was forked by a PE: the job goes on without it.
bool is_forked_child() noexcept;
/// The end of such a child, with a message naming the `function` that it called.
[[noreturn]] void die_forked_child(const char* function) noexcept;

}  // namespace railshmem
