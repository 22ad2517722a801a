// SPDX-License-Identifier: BSD-3-Clause
// What libfabric's shm provider leaves behind where a process ends without closing its endpoints.
#pragma once

#include <sys/types.h>

#include <span>

namespace railshmem {

/// Removes the files of these processes of this user, which have ended or are about to. The provider names a file
/// NUMBER_..., NUMBER:USER:... by the process and its user: those of other processes and other users stay. Returns how
/// many files it removed.
int remove_shm_files(std::span<const pid_t> processes, const char* folder = "/dev/shm") noexcept;

}  // namespace railshmem
