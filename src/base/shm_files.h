// SPDX-License-Identifier: BSD-3-Clause
// What libfabric's shm provider leaves behind where a process ends without closing its endpoints.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace railshmem {

/// The time that transports/ofi puts into the names of its files.
uint64_t shm_file_time_ns() noexcept;

/// Removes the files that these processes of this user, which have ended or are about to, have made through
/// transports/ofi since then, by shm_file_time_ns(). Returns how many.
///
/// A name tells a process by its number alone, which another process has had before or, where containers share
/// /dev/shm but not their numbers, has at the same time: `since_ns`, before which the processes had made none, spares
/// what is older. Known limit: younger files of another container's process with that number and user go too.
int remove_shm_files(std::span<const pid_t> processes, uint64_t since_ns, const char* folder = "/dev/shm") noexcept;

}  // namespace railshmem
