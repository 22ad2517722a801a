// SPDX-License-Identifier: BSD-3-Clause
// Tells when watched memory goes away: unmapped, moved, given back to the system, or mapped anew.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "src/base/unique.h"
#include "transports/ofi/counted_ranges.h"
#include "transports/ofi/page_range.h"

namespace railshmem::ofi {

/// Uses the kernel's userfaultfd, for its events only: watched ranges are armed for write-protect faults and no page is
/// ever protected, so no access faults, and madvise, munmap, mremap and mmap over a watched range wait until the thread
/// of this class has read the event. They return after that, hence the promise: once such a call has returned,
/// collect() reports it, to every thread that the caller synchronises with.
///
/// Two rules keep those waits short and free of deadlock. The thread takes no lock but log_mutex_. A holder of
/// log_mutex_ does nothing that might unmap memory: no allocation, no release, no call of libfabric.
class MemoryMonitor {
 public:
  /// Null where the kernel refuses; `why` then says what it said.
  static std::unique_ptr<MemoryMonitor> make(std::string& why);
  ~MemoryMonitor();
  MemoryMonitor(const MemoryMonitor&) = delete;

  /// False where such memory cannot be watched. Any thread. Interests are counted: each true asks for an unwatch().
  bool watch(const PageRange& pages) noexcept;
  void unwatch(const PageRange& pages) noexcept;

  /// How much of the log a reader has seen.
  struct Seen {
    uint64_t batches = 0;
    uint64_t events = 0;
  };
  /// Nothing happened since; one load.
  bool quiet_since(const Seen& seen) const noexcept {
    // acquire: pairs with the increment in run(). A caller of munmap returned after it, so whoever can know that the
    // memory has gone sees it here.
    return batches_.load(std::memory_order_acquire) == seen.batches;
  }
  /// Calls gone(PageRange) for what happened since, with no lock held.
  template <class Gone>
  void collect(Seen& seen, Gone&& gone) noexcept {
    std::array<PageRange, kLog> ranges;
    const size_t n = copy_log(seen, ranges);
    for (size_t i = 0; i < n; ++i) gone(ranges[i]);
  }
  /// A reader that starts now.
  Seen now() noexcept;

 private:
  static constexpr size_t kLog = 256;  ///< a reader further behind is told that all memory has gone

  MemoryMonitor(UniqueFd faults, UniqueFd stop);
  void run() noexcept;
  bool read_batch() noexcept;
  void record(const PageRange& gone) noexcept;
  size_t copy_log(Seen& seen, std::array<PageRange, kLog>& ranges) noexcept;

  UniqueFd faults_;
  UniqueFd stop_;
  std::mutex watch_mutex_;  ///< guards watched_; the thread never takes it
  CountedRanges watched_;
  std::mutex log_mutex_;
  std::array<PageRange, kLog> log_{};
  uint64_t events_ = 0;               ///< ever recorded; the newest is in log_[(events_ - 1) % kLog]
  std::atomic<uint64_t> batches_{0};  ///< announced before their events are read
  std::thread thread_;                // last: it uses everything above
};

}  // namespace railshmem::ofi
