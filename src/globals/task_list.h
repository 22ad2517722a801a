// SPDX-License-Identifier: BSD-3-Clause
// The threads of this process as the kernel lists them, read without allocation or locks.
#pragma once

#include <cstddef>
#include <string>

namespace railshmem {

/// Bytes of scratch memory that a listing and an inspection share.
inline constexpr size_t kTaskScratch = 32768;

/// One pass over /proc/self/task.
class TaskList {
 public:
  /// `scratch` holds kTaskScratch bytes; the first half is this object's.
  explicit TaskList(char* scratch) noexcept;
  TaskList(const TaskList&) = delete;
  TaskList& operator=(const TaskList&) = delete;
  ~TaskList();
  /// The next thread's id; 0 at the end.
  int next() noexcept;
  /// False when the listing failed. Meaningful after next() gave 0.
  bool complete() const noexcept { return !failed_; }

 private:
  char* scratch_;
  int fd_;
  long filled_ = 0;
  long at_ = 0;
  bool failed_ = false;
};

enum class TaskState { ready, blocked, gone };

/// Whether `signal` can reach the thread: `gone` also for one that has exited but is still listed.
/// Uses the second half of `scratch`.
TaskState inspect_task(int tid, int signal, char* scratch) noexcept;

/// The thread's name, for messages; "?" when it has gone.
std::string task_name(int tid);

}  // namespace railshmem
