// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/verdict.h"

#include <string.h>
#include <sys/wait.h>

#include "src/base/error.h"

namespace railshmem::oshrun {

int exit_status_of(int wait_status) noexcept {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string describe(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return text("was killed by signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
  return text("exited with status %d", WEXITSTATUS(wait_status));
}

}  // namespace railshmem::oshrun
