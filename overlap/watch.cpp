// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/watch.h"

#include <shmem.h>

#include <algorithm>
#include <chrono>

#include "src/base/log.h"
#include "src/base/thread.h"

namespace railshmem::overlap {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t kWaits = 1, kSeen = 2;
constexpr unsigned kPortable = 1;

}  // namespace

Watch::Watch(std::vector<int> pes, double timeout_s) : pes_(std::move(pes)), timeout_s_(timeout_s) {
  void* memory = nullptr;
  must(driver().host_alloc(&memory, std::max<size_t>(1, pes_.size()) * sizeof(uint64_t), kPortable), "cuMemHostAlloc");
  marks_ = static_cast<uint64_t*>(memory);
  std::fill_n(marks_, std::max<size_t>(1, pes_.size()), 0);
  if (timeout_s_ > 0 && !pes_.empty())
    thread_ =
        start_thread({"railshmem-gemm", "the watch over peers of overlapped products"}, log_pe(), [this] { look(); });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  driver().host_free(marks_);
}

std::array<WordOp, 4> Watch::hold_ops(size_t mark, uint64_t* word) const noexcept {
  return {write_word(marks_ + mark, kWaits), await_word(word, 1), write_word(word, 0), write_word(marks_ + mark, 0)};
}

void Watch::hold(Stream stream, size_t mark, uint64_t* word) const {
  std::array ops = hold_ops(mark, word);
  give_words(ops, stream);
}

/// A mark that the thread has changed to kSeen and finds unchanged stands for one and the same wait.
void Watch::look() {
  const auto pause = std::chrono::duration<double>(std::clamp(timeout_s_ / 20, 0.01, 0.5));
  std::vector<Clock::time_point> since(pes_.size());
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return over_; })) {
    const Clock::time_point now = Clock::now();
    for (size_t i = 0; i < pes_.size(); ++i) {
      uint64_t expected = kWaits;
      // acq_rel is more than it needs: nothing is handed over by a mark.
      if (__atomic_compare_exchange_n(&marks_[i], &expected, kSeen, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        since[i] = now;
      } else if (expected == kSeen && std::chrono::duration<double>(now - since[i]).count() > timeout_s_) {
        log_error(
            "an overlapped product on a stream has waited %.1f s for PE %d; it did not make the call, made it with "
            "another shape, or stands still (SHMEM_WAIT_TIMEOUT)",
            timeout_s_, pes_[i]);
        shmem_global_exit(1);
      }
    }
  }
}

}  // namespace railshmem::overlap
