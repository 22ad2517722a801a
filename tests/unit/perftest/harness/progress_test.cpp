// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <string>

namespace railshmem::perf {
namespace {

/// The two ends of a terminal of its own; what was drawn on it can be read.
struct Screen {
  Screen() : reader(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    if (reader < 0 || grantpt(reader) != 0 || unlockpt(reader) != 0) return;
    writer = open(ptsname(reader), O_RDWR | O_NOCTTY);
  }
  ~Screen() {
    if (writer >= 0) close(writer);
    if (reader >= 0) close(reader);
  }
  std::string text() const {
    char buffer[4096];
    const ssize_t n = read(reader, buffer, sizeof buffer);
    return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
  }
  int reader;
  int writer = -1;
};

void wait_ms(long ms) {
  const timespec pause{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&pause, nullptr);
}

TEST(Progress, ShortRunsShowNothing) {
  const Screen screen;
  if (screen.writer < 0) GTEST_SKIP() << "no terminal can be made here";
  {
    Progress progress(Terminal(screen.writer, false), 3);
    progress.begin("put_bw", 4);
    for (int i = 0; i < 4; ++i) progress.row(64);
  }
  EXPECT_EQ(screen.text(), "");
}

TEST(Progress, LongRunsSayHowFarTheyAreAndClearTheLine) {
  const Screen screen;
  if (screen.writer < 0) GTEST_SKIP() << "no terminal can be made here";
  {
    Progress progress(Terminal(screen.writer, false), 4);
    progress.begin("put_bw", 2);
    progress.begin("get_lat", 4);
    wait_ms(1050);
    progress.row(65536);
    const std::string drawn = screen.text();
    EXPECT_NE(drawn.find(" 31 %  get_lat 64K, bench 2 of 4, 1 s"), std::string::npos) << drawn;
    EXPECT_NE(drawn.find("\r\033[K[######              ]"), std::string::npos) << drawn;
    progress.row(131072);
    EXPECT_EQ(screen.text(), "") << "at most ten times a second";
  }
  EXPECT_EQ(screen.text(), "\r\033[K");
}

TEST(Progress, WithoutATerminalNothingIsWritten) {
  Progress progress(Terminal(-1, false), 1);
  progress.begin("put_bw", 1);
  wait_ms(1010);
  progress.row(8);
}

}  // namespace
}  // namespace railshmem::perf
