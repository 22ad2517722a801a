// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/signal_actions.h"

namespace railshmem {

KeptSignalActions::KeptSignalActions() noexcept {
  for (int signal = 1; signal < kSignals; ++signal) sigaction(signal, nullptr, &before_[static_cast<size_t>(signal)]);
}

KeptSignalActions::~KeptSignalActions() {
  for (int signal = 1; signal < kSignals; ++signal) {
    const struct sigaction& before = before_[static_cast<size_t>(signal)];
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) != 0) continue;
    // sa_handler and sa_sigaction share their memory, so this compares handlers of three arguments, too.
    if (now.sa_handler != before.sa_handler) sigaction(signal, &before, nullptr);
  }
}

void block_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace railshmem
