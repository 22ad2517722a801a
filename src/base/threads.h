// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

namespace railshmem {

/// Whether this process has a thread beside the caller. True where the system does not tell.
inline bool has_other_threads() noexcept {
  struct stat tasks;
  constexpr nlink_t kAlone = 3;  // links of the folder: itself, its parent's entry, and one for each thread
  return stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink != kAlone;
}

}  // namespace railshmem
