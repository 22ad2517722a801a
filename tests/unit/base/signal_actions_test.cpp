// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/signal_actions.h"

#include <gtest/gtest.h>

namespace railshmem {
namespace {

void of_the_program(int) {}
void of_a_library(int, siginfo_t*, void*) {}

class SignalActions : public testing::Test {
 protected:
  void SetUp() override { sigaction(SIGUSR1, nullptr, &found_); }
  void TearDown() override { sigaction(SIGUSR1, &found_, nullptr); }

  static struct sigaction now(int signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    return action;
  }

 private:
  struct sigaction found_ {};
};

TEST_F(SignalActions, AHandlerThatALibraryInstallsGoes) {
  struct sigaction mine {};
  mine.sa_handler = of_the_program;
  mine.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &mine, nullptr);
  {
    const KeptSignalActions kept;
    struct sigaction theirs {};
    theirs.sa_sigaction = of_a_library;
    theirs.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &theirs, nullptr);
  }
  EXPECT_EQ(now(SIGUSR1).sa_handler, of_the_program);
  EXPECT_EQ(now(SIGUSR1).sa_flags & (SA_RESTART | SA_SIGINFO), SA_RESTART);
}

TEST_F(SignalActions, TheDefaultComesBack) {
  signal(SIGUSR1, SIG_DFL);
  {
    const KeptSignalActions kept;
    signal(SIGUSR1, of_the_program);
  }
  EXPECT_EQ(now(SIGUSR1).sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace railshmem
