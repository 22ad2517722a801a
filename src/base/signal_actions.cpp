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

SignalsLeftToProgram::SignalsLeftToProgram() noexcept {
  sigset_t left;
  sigfillset(&left);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
    sigdelset(&left, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigdelset(&left, signal);
  pthread_sigmask(SIG_BLOCK, &left, &before_);
}

SignalsLeftToProgram::~SignalsLeftToProgram() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace railshmem
