// SPDX-License-Identifier: BSD-3-Clause
// What libfabric's shm provider leaves behind where a process ends without closing its endpoints.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "src/base/unique.h"

namespace railshmem {

/// The time that transports/ofi puts into the names of its files.
uint64_t shm_file_time_ns() noexcept;

/// Says that the files with this process's number and `since_ns` in their names have an owner that lives: a file beside
/// them, which is locked. The kernel drops the lock when the process ends, however it ends, and every container that
/// shares the folder sees the lock. Without room for the file nothing is claimed, and nobody removes the files.
class ShmClaim {
 public:
  explicit ShmClaim(const char* folder = "/dev/shm");
  ShmClaim(ShmClaim&&) = delete;
  ~ShmClaim();

  uint64_t since_ns() const noexcept { return since_ns_; }

 private:
  uint64_t since_ns_;
  std::string path_;
  UniqueFd lock_;
};

/// Removes the files of this user's processes that have ended and left them behind: those whose claim nobody holds.
/// Files without a claim stay. Returns how many files went.
int sweep_shm_files(const char* folder = "/dev/shm") noexcept;

/// Removes the files that `processes` of this user have made through transports/ofi at or after `since_ns`, a time of
/// shm_file_time_ns(). The processes have ended or are about to. Returns how many files went.
///
/// A file's name holds only the number of its process. An earlier process may have had this number, and a process of
/// another container may have it now where containers share /dev/shm. So files older than `since_ns` stay; the caller
/// knows that `processes` had made none before. Known limit: younger files of another container's process with that
/// number and user go too.
int remove_shm_files(std::span<const pid_t> processes, uint64_t since_ns, const char* folder = "/dev/shm") noexcept;

}  // namespace railshmem
