// SPDX-License-Identifier: BSD-3-Clause
// A full fence between two threads of which one is called often and the other rarely.
#pragma once

#include <atomic>
#include <cstdint>

namespace railshmem {

/// light() on one side and heavy() on the other order like two seq_cst fences: of the stores before them, at least one
/// is seen by the loads behind the other (Dekker). light() is free where the kernel offers membarrier(2), whose
/// PRIVATE_EXPEDITED command makes every running thread of the process execute a barrier.
class AsymmetricFence {
 public:
  enum class Kind : uint8_t { best, symmetric };
  explicit AsymmetricFence(Kind kind = Kind::best) noexcept;

  void light() noexcept {
    if (asymmetric_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler keeps the order; the CPU is told by heavy()
    } else {
      meet();
    }
  }
  void heavy() noexcept;

 private:
  /// Both sides change one word: the second sees everything the first stored before. Unlike a thread fence this is
  /// understood by ThreadSanitizer.
  /// acq_rel: pairs with the other side's meet().
  void meet() noexcept { meeting_.fetch_add(1, std::memory_order_acq_rel); }

  bool asymmetric_;
  std::atomic<uint32_t> meeting_{0};
};

}  // namespace railshmem
