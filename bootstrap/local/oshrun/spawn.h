// SPDX-License-Identifier: BSD-3-Clause
// Starts one PE's process.
#pragma once

#include <sys/types.h>

#include "bootstrap/local/oshrun/options.h"
#include "src/base/unique.h"

namespace railshmem::oshrun {

struct Child {
  pid_t pid = -1;
  UniqueFd control;  ///< socket to the PE's bootstrap
  UniqueFd out;      ///< read ends of its stdout and stderr; none when it writes to oshrun's own
  UniqueFd err;
  int exec_errno = 0;  ///< why the program could not be started; 0 = it runs
};

/// Throws Error when the host has no processes or descriptors left.
Child spawn(const Options& options, int pe);

}  // namespace railshmem::oshrun
