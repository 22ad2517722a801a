// SPDX-License-Identifier: BSD-3-Clause
// Holds every other thread of the process for a moment, so that memory can be moved that these threads use.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>

namespace railshmem {

struct ParkTable;

/// Between a successful park() and release() no other thread of the process runs, and no signal reaches this one.
///
/// The caller must not allocate, lock or print meanwhile: a held thread may own any lock. Threads are held in a handler
/// of an unused real-time signal, so their poll, nanosleep and the like return EINTR once. One at a time per process.
class ThreadPark {
 public:
  ThreadPark() = default;
  ThreadPark(const ThreadPark&) = delete;
  ThreadPark& operator=(const ThreadPark&) = delete;
  ~ThreadPark() { release(); }

  /// False when some thread cannot be held; all run on then, and reason() says which and why.
  bool park() noexcept;
  void release() noexcept;
  std::string reason() const;

 private:
  enum class Refusal { none, memory, proc, crowd, no_signal, blocked, silent };

  enum class Progress { settled, waiting, refused };

  bool refuse(Refusal refusal, int tid) noexcept;
  bool hold_all() noexcept;
  Progress hold(int tid, uint64_t waited_ns, int& deaf) noexcept;
  bool install_handler() noexcept;
  void restore_handler() noexcept;

  ParkTable* table_ = nullptr;
  int signal_ = 0;
  struct sigaction before_ {};
  sigset_t mask_{};
  Refusal refusal_ = Refusal::none;
  int culprit_ = 0;
};

}  // namespace railshmem
