// SPDX-License-Identifier: BSD-3-Clause
// What a process's wait status means for the job.
#pragma once

#include <string>

namespace railshmem::oshrun {

/// As a shell reports it: the exit status, or 128 + signal.
int exit_status_of(int wait_status) noexcept;
/// "was killed by signal 9 (Killed)" or "exited with status 3".
std::string describe(int wait_status);

}  // namespace railshmem::oshrun
