// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/job_end.h"
#include "src/base/thread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "src/base/log.h"

namespace railshmem {
namespace {

class JobEndTest : public testing::Test {
 protected:
  JobEndTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void print_line(const char* what) {
  std::fprintf(stderr, "%s\n", what);
}

void print_step(int, const char* why) noexcept {
  print_line(*why ? why : "told");
}
void print_tidy(EndHooks::Cause) noexcept {
  print_line("tidied");
}

TEST_F(JobEndTest, TellsFirstAndRunsExitHandlersLast) {
  const auto wanted = [] {
    set_end_hooks({.notify = print_step, .tidy = print_tidy});
    std::atexit([] { print_line("handled"); });
    end_wanted(5);
  };
  EXPECT_EXIT(wanted(), testing::ExitedWithCode(5), "^told\ntidied\nhandled\n$");
}

TEST_F(JobEndTest, TellsLastWhereThatKills) {
  const auto wanted = [] {
    set_end_hooks({.notify = print_step, .notifying_kills = []() noexcept { return true; }, .tidy = print_tidy});
    std::atexit([] { print_line("handled"); });
    end_wanted(5);
  };
  EXPECT_EXIT(wanted(), testing::ExitedWithCode(5), "^tidied\nhandled\ntold\n$");
}

TEST_F(JobEndTest, ErrorsRunNoExitHandlers) {
  const auto error = [] {
    set_end_hooks({.notify = print_step, .tidy = print_tidy});
    std::atexit([] { print_line("handled"); });
    end_with_error("why");
  };
  EXPECT_EXIT(error(), testing::ExitedWithCode(kAbortStatus), "^why\ntidied\n$");
}

TEST_F(JobEndTest, AnErrorInAnExitHandlerKeepsTheStatus) {
  const auto wanted = [] {
    std::atexit([] { die("a mistake of the handler"); });
    end_wanted(5);
  };
  EXPECT_EXIT(wanted(), testing::ExitedWithCode(5), "a mistake of the handler");
}

TEST_F(JobEndTest, AnExitHandlerThatNeverReturnsKeepsTheStatus) {
  const auto wanted = [] {
    std::atexit([] {
      for (;;) pause();
    });
    end_wanted(6);
  };
  EXPECT_EXIT(wanted(), testing::ExitedWithCode(6), "");
}

TEST_F(JobEndTest, AStepThatNeverReturnsKeepsTheStatus) {
  const auto wanted = [] {
    set_end_hooks({.tidy = [](EndHooks::Cause) noexcept {
      for (;;) pause();
    }});
    end_wanted(7);
  };
  EXPECT_EXIT(wanted(), testing::ExitedWithCode(7), "");
}

TEST_F(JobEndTest, TheProgramsOwnExitMeanwhileKeepsTheStatus) {
  const auto wanted = [] {
    std::atexit(wait_for_the_end);
    set_end_hooks({.notify = [](int, const char*) noexcept { usleep(300'000); }});
    std::thread([] { end_wanted(8); }).detach();
    while (!end_is_claimed()) usleep(1000);
    std::exit(0);
  };
  EXPECT_EXIT(wanted(), testing::ExitedWithCode(8), "");
}

// A thread of the program that waits hears the news a little later than the thread that listens.
TEST_F(JobEndTest, AThreadOfTheLibraryLeavesExitHandlersToTheProgram) {
  const auto told = [] {
    std::atexit([] { print_line("handled"); });
    std::thread([] {
      enter_library_thread(0);
      end_as_told({4, true, ""});
    }).detach();
    usleep(50'000);
    end_as_told({4, true, ""});
  };
  EXPECT_EXIT(told(), testing::ExitedWithCode(4), "handled");
}

TEST_F(JobEndTest, AThreadOfTheLibraryFlushesBesideAProgramThatComputes) {
  const auto told = [] {
    std::atexit([] { print_line("handled"); });
    std::setvbuf(stderr, nullptr, _IOFBF, BUFSIZ);
    print_line("printed before");
    std::thread([] {
      enter_library_thread(0);
      end_as_told({4, true, ""});
    }).detach();
    for (;;) pause();
  };
  EXPECT_EXIT(told(), testing::ExitedWithCode(4), "^printed before\n$");
}

TEST_F(JobEndTest, AThreadOfTheProgramThatCrashesWhileItIsEndedKeepsTheStatus) {
  const auto told = [] {
    std::atexit([] { std::abort(); });
    end_as_told({0, true, ""});
  };
  EXPECT_EXIT(told(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace railshmem
