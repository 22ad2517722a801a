// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/signals.h"

#include <signal.h>
#include <sys/signalfd.h>

#include "src/base/error.h"

namespace railshmem::oshrun {

UniqueFd catch_signals(std::span<const int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  check_errno(static_cast<bool>(fd), "signalfd");
  sigaddset(&set, SIGPIPE);
  check_errno(sigprocmask(SIG_BLOCK, &set, nullptr) == 0, "sigprocmask");
  return fd;
}

void release_signals(std::span<const int> signals) noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace railshmem::oshrun
