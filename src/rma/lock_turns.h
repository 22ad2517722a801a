// SPDX-License-Identifier: BSD-3-Clause
// Threads of one PE that want one lock (SHMEM_THREAD_MULTIPLE): one of them at a time speaks for the PE.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "src/rma/pe_state.h"

namespace railshmem {

/// First come, first served, per lock. A bit in the lock's own word says whether a thread of this PE has the lock or
/// queues for it. A waiting thread is a record on its own stack. So nothing is allocated, and nothing is left when a
/// lock is free. The thread that leaves need not be the one that entered.
class LockTurns {
 public:
  /// `claimed` is the bit that LockTurns uses in a `node`, which is this PE's half of a lock's word.
  LockTurns(PeState& state, uint32_t claimed) noexcept : state_(state), claimed_(claimed) {}

  void enter(const char* function, uint32_t* node) noexcept;
  /// Never waits. Returns false when another thread has the lock or waits for it.
  bool try_enter(uint32_t* node) noexcept;
  void leave(uint32_t* node) noexcept;

 private:
  struct Waiting {
    uint32_t* node;
    Waiting* next;
    bool my_turn;
  };
  /// The threads waiting for any lock of a bucket, in the order they came. The mutex is held for a few instructions; it
  /// is no spin lock because PEs may outnumber CPUs.
  struct alignas(64) Bucket {
    std::mutex mutex;
    Waiting* first = nullptr;
  };
  static constexpr size_t kBuckets = 16;  // threads seldom compete for more locks at once

  Bucket& bucket_of(const uint32_t* node) noexcept {
    return buckets_[reinterpret_cast<uintptr_t>(node) / 8 % kBuckets];
  }
  bool claim(uint32_t* node) noexcept;

  PeState& state_;
  const uint32_t claimed_;
  std::array<Bucket, kBuckets> buckets_;
};

}  // namespace railshmem
