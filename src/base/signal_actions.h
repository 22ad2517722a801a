// SPDX-License-Identifier: BSD-3-Clause
// Signals are the program's: code of the library and of others changes nothing about them.
#pragma once

#include <csignal>

#include <array>

namespace railshmem {

/// Restores, at the end of its scope, the action that each signal had at the begin. For the loading of libraries whose
/// constructors install handlers.
class KeptSignalActions {
 public:
  KeptSignalActions() noexcept;
  KeptSignalActions(const KeptSignalActions&) = delete;
  KeptSignalActions& operator=(const KeptSignalActions&) = delete;
  ~KeptSignalActions();

 private:
  static constexpr int kSignals = 32;  // the classic ones, from 1 on; nobody's constructor takes a real-time signal
  std::array<struct sigaction, kSignals> before_{};
};

/// A thread that is started in this scope takes no signal that is sent to the process: those are for the program's
/// threads, which may wait for them (sigwait). It still takes faults, profiling signals and real-time signals, which
/// are sent to one thread.
class SignalsLeftToProgram {
 public:
  SignalsLeftToProgram() noexcept;
  SignalsLeftToProgram(const SignalsLeftToProgram&) = delete;
  SignalsLeftToProgram& operator=(const SignalsLeftToProgram&) = delete;
  ~SignalsLeftToProgram();

 private:
  sigset_t before_;
};

}  // namespace railshmem
