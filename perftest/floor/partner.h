// SPDX-License-Identifier: BSD-3-Clause
// The second process of a floor: this executable again, started by PE 0 with a piece of shared memory and a role.
// It is executed, not forked: a fork of a process with threads may inherit their locks.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace railshmem::perf {

/// What a peer must know to reach a fabric endpoint.
struct FabricDescriptor {
  uint8_t address[256];
  size_t address_bytes;
  uint64_t key;
  uint64_t base;  ///< remote address of the region's first byte
};

/// The head of the shared memory; fields that both sides write sit on lines of their own.
struct SharedHead {
  alignas(64) std::atomic<uint32_t> parent_stage;
  alignas(64) std::atomic<uint32_t> child_stage;
  alignas(64) std::atomic<uint64_t> ping;
  alignas(64) std::atomic<uint64_t> pong;
  alignas(64) std::atomic<uint64_t> counter;
  alignas(64) char provider[128];
  uint64_t nbytes;                 ///< of the payload, or of each side's fabric region
  FabricDescriptor descriptor[2];  ///< parent's, child's
};
inline constexpr size_t kPayloadOffset = 4096;
static_assert(sizeof(SharedHead) <= kPayloadOffset);

/// Stages that either side announces, in this order.
inline constexpr uint32_t kReady = 1;
inline constexpr uint32_t kConnected = 2;
inline constexpr uint32_t kQuit = 3;

/// Owns the helper process and the memory shared with it.
class Partner {
 public:
  /// Starts the helper and waits until it is ready. Throws when it fails. `shared_bytes`: payload after the head;
  /// `region_bytes`: announced to fabric roles, which allocate it privately.
  Partner(const char* role, size_t shared_bytes, size_t region_bytes = 0, const std::string& provider = "");
  ~Partner();
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  SharedHead& head() noexcept { return *head_; }
  char* payload() noexcept { return reinterpret_cast<char*>(head_) + kPayloadOffset; }
  void announce(uint32_t stage) noexcept { head_->parent_stage.store(stage, std::memory_order_release); }
  /// True once the helper reached the stage; throws when it has died.
  bool reached(uint32_t stage);

 private:
  SharedHead* head_ = nullptr;
  size_t mapped_ = 0;
  pid_t child_ = -1;
};

/// A role: what the helper does with the shared memory until the parent announces kQuit.
using Role = void (*)(SharedHead& head, char* payload);
struct RegisterRole {
  RegisterRole(const char* name, Role role);
};

/// The helper's main: `shmem_perf --floor-partner ROLE FD`. Returns the exit status.
inline constexpr const char* kPartnerOption = "--floor-partner";
int partner_main(const char* role, const char* fd);

/// One turn of a spin loop as a good library would write it: loads back to back first, for the shortest reaction. Later
/// it gives the core away, as the other side may need that core.
inline void spin_turn(uint32_t turn) noexcept {
  constexpr uint32_t kBareTurns = 4096;  // some microseconds: longer than any round trip between two cores
  if (turn > kBareTurns && turn % 64 == 0) sched_yield();
}

}  // namespace railshmem::perf
