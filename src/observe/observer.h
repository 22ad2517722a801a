// SPDX-License-Identifier: BSD-3-Clause
// What a PE records about itself when SHMEM_STATS or SHMEM_TRACE asks for it.
//
// Threads write logs of their own without a lock. The mutex is for rare moments: a thread's first record, a full
// buffer, the end.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/observe/clock.h"
#include "src/observe/spool.h"
#include "src/observe/thread_log.h"
#include "src/observe/timeline.h"

namespace railshmem::observe {

struct Settings {
  int pe = 0;
  bool stats = false;
  bool check = false;
  std::string trace{};                         ///< the timeline's file; empty: none
  uint64_t trace_limit = uint64_t{128} << 20;  ///< bytes of events that a PE keeps aside
};

class Observer {
 public:
  /// Throws Error when the timeline cannot be written.
  explicit Observer(const Settings& settings);
  Observer(const Observer&) = delete;
  ~Observer();

  bool stats() const noexcept { return settings_.stats; }
  bool tracing() const noexcept { return spool_ != nullptr; }
  bool checking() const noexcept { return settings_.check; }
  /// Whether calls are recorded; false: only arguments are checked.
  bool recording() const noexcept { return stats() || tracing(); }

  uint64_t ticks() const noexcept { return clock_.ticks(); }

  /// begin() and end() bracket a call of the program; the calling thread calls both.
  void begin(Kind kind, Way way, const char* function, uint64_t nbytes, int pe) noexcept;
  void end() noexcept;
  /// Records work that the engine did on this thread, from `began` until now.
  void did(const char* what, uint64_t began, uint64_t nbytes, int pe) noexcept;
  void count(Engine what, uint64_t by) noexcept { log().counters().count(what, by); }
  /// Called when a thread ends that has recorded. Its log waits for the next thread that starts, so that a program may
  /// start any number of threads.
  void thread_ended(ThreadLog& log) noexcept;
  uint64_t id() const noexcept { return id_; }
  /// Sets this thread's name in the timeline; a literal.
  void name_thread(const char* name) noexcept;

  // ---- the end -----------------------------------------------------------------------------------------------------

  /// Sums over all threads, in nanoseconds. Called once, when no thread records any more.
  Totals finish();
  /// Writes this PE's events into a file of its own. Other threads may still run; events that they add then are not in
  /// the file.
  PartInfo write_part(const std::string& path);
  /// Writes this PE's part of a job that is about to end without finalize, and says where the part is. Only the first
  /// call does something.
  void rescue() noexcept;
  std::string part_path() const;
  const Settings& settings() const noexcept { return settings_; }
  Clock& clock() noexcept { return clock_; }

 private:
  ThreadLog& log() noexcept;
  ThreadLog& add_log() noexcept;
  void keep(ThreadLog& log, const Event& event) noexcept;

  const uint64_t id_;  ///< tells this Observer from an earlier one at its address
  const Settings settings_;
  Clock clock_;
  std::unique_ptr<Spool> spool_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadLog>> logs_;  ///< of every thread that ever recorded
  std::vector<ThreadLog*> idle_;                  ///< logs of threads that ended
  std::atomic<bool> rescued_{false};
};

}  // namespace railshmem::observe
