// SPDX-License-Identifier: BSD-3-Clause
// What every PE first tells all others, and which of it must agree before anything else is tried.
#pragma once

#include <sched.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "src/base/env.h"
#include "src/plugin/bootstrap.h"

namespace railshmem {

struct Identity {
  uint64_t host;              ///< see host_id()
  uint64_t pid_namespace;     ///< in which `pid` is valid
  uint64_t symmetric_size;    ///< SHMEM_SYMMETRIC_SIZE
  uint64_t memory_for_heaps;  ///< see memory_for_heaps()
  uint64_t node_size;         ///< SHMEM_NODE_SIZE
  uint64_t teams_max;         ///< SHMEM_TEAMS_MAX, which moves where the heap begins
  uint64_t collectives;       ///< SHMEM_COLLECTIVES as a number: members of a team must use one algorithm
  uint64_t collective_chunk;  ///< SHMEM_COLLECTIVE_CHUNK
  uint64_t data_segment;      ///< SHMEM_DATA_SEGMENT as a number
  uint64_t transports;        ///< SHMEM_TRANSPORT as a number
  uint64_t several_threads;   ///< this PE asked for SHMEM_THREAD_MULTIPLE
  uint64_t stats;             ///< SHMEM_STATS
  uint64_t trace;             ///< whether SHMEM_TRACE names a file
  uint64_t check;             ///< SHMEM_CHECK
  uint64_t device_heap;       ///< this PE's heap is to be in the memory of a GPU
  uint64_t device_heap_max;   ///< bytes that this PE lets the device heap grow to
  uint64_t has_context;       ///< the program has chosen its GPU already
  int64_t pid;
  cpu_set_t cpus;   ///< CPUs that this PE may run on; empty when the system would not say
  uint64_t layout;  ///< version of this struct and of the wire messages
};
static_assert(std::is_trivially_copyable_v<Identity>);

/// This PE's identity.
Identity make_identity(const Env& env);

/// Every PE's identity in PE order; throws Error naming the PE, the variable and both values where two must agree.
std::vector<Identity> exchange_identities(Bootstrap& bootstrap, const Identity& mine);

/// The number of CPUs that the PEs of a host may run on, all together. A launcher may bind each PE to CPUs of its own,
/// so no PE can tell from its own mask whether PEs share CPUs. All PEs of the host must get one answer.
int count_cpus(const std::vector<Identity>& identities, uint64_t host) noexcept;

}  // namespace railshmem
