// SPDX-License-Identifier: BSD-3-Clause
// What a PE records about itself when SHMEM_STATS or SHMEM_TRACE asks for it.
//
// Threads write logs of their own without a lock; the mutex is for the rare moments: a thread's first record, a full
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
  /// False: only arguments are checked.
  bool recording() const noexcept { return stats() || tracing(); }

  uint64_t ticks() const noexcept { return clock_.ticks(); }

  /// Brackets a call of the program; on the same thread.
  void begin(Kind kind, Way way, const char* function, uint64_t nbytes, int pe) noexcept;
  void end() noexcept;
  /// Something that the engine did on this thread, from `began` until now.
  void did(const char* what, uint64_t began, uint64_t nbytes, int pe) noexcept;
  void count(Engine what, uint64_t by) noexcept { log().counters().count(what, by); }
  /// Called for every thread that recorded, when it ends: its log waits for the next thread that starts, so that a
  /// program may start any number.
  void thread_ended(ThreadLog& log) noexcept;
  uint64_t id() const noexcept { return id_; }
  /// How this thread is called in the timeline; a literal.
  void name_thread(const char* name) noexcept;

  // ---- the end -----------------------------------------------------------------------------------------------------

  /// Sums over all threads, in nanoseconds. Called once, when no thread records any more.
  Totals finish();
  /// Writes this PE's events as a file of its own; other threads may still run, what they add then is not in it.
  PartInfo write_part(const std::string& path);
  /// For a job that is about to end without finalize: writes this PE's part and says where it is. Once.
  void rescue() noexcept;
  std::string part_path() const;
  const Settings& settings() const noexcept { return settings_; }
  Clock& clock() noexcept { return clock_; }

 private:
  ThreadLog& log() noexcept;
  ThreadLog& add_log() noexcept;
  void keep(ThreadLog& log, const Event& event) noexcept;

  const uint64_t id_;  ///< tells this one from an earlier one at the same address
  const Settings settings_;
  Clock clock_;
  std::unique_ptr<Spool> spool_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadLog>> logs_;  ///< of every thread that ever recorded
  std::vector<ThreadLog*> idle_;                  ///< those of threads that ended
  std::atomic<bool> rescued_{false};
};

}  // namespace railshmem::observe
