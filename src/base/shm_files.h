// SPDX-License-Identifier: BSD-3-Clause
// What libfabric's shm provider leaves behind where a process ends without closing its endpoints.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace railshmem {

/// The time that transports/ofi puts into the names of its files.
uint64_t shm_file_time_ns() noexcept;

/// Removes the files that `processes` of this user have made through transports/ofi at or after `since_ns`, a time of
/// shm_file_time_ns(). The processes have ended or are about to. Returns how many files went.
///
/// A file's name holds only the number of its process. An earlier process may have had this number, and a process of
/// another container may have it now where containers share /dev/shm. So files older than `since_ns` stay; the caller
/// knows that `processes` had made none before. Known limit: younger files of another container's process with that
/// number and user go too.
int remove_shm_files(std::span<const pid_t> processes, uint64_t since_ns, const char* folder = "/dev/shm") noexcept;

}  // namespace railshmem
