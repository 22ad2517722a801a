// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/fds.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace railshmem {
namespace {

/// Descriptor 0 closed, until the end of a test.
class ClosedStdin : public testing::Test {
 protected:
  ClosedStdin() : kept_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) { close(STDIN_FILENO); }
  ~ClosedStdin() override {
    if (kept_ >= 0) {
      dup2(kept_, STDIN_FILENO);
      close(kept_);
    } else {
      close(STDIN_FILENO);
    }
  }
  static bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

 private:
  int kept_;
};

TEST_F(ClosedStdin, AnOwnedDescriptorIsNeverZero) {
  const UniqueFd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_GT(fd.get(), STDERR_FILENO);
  EXPECT_EQ(fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(is_open(STDIN_FILENO));
}

TEST_F(ClosedStdin, AFailureKeepsItsErrno) {
  errno = ENOENT;
  EXPECT_FALSE(UniqueFd(-1));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(ClosedStdin, PairsAndFoldersAvoidItToo) {
  const FdPipe pipe = make_pipe();
  EXPECT_GT(pipe.read.get(), STDERR_FILENO);
  EXPECT_GT(pipe.write.get(), STDERR_FILENO);
  const auto [one, other] = make_socket_pair();
  EXPECT_GT(one.get(), STDERR_FILENO);
  EXPECT_GT(other.get(), STDERR_FILENO);
  const Folder folder = open_folder("/");
  ASSERT_TRUE(folder);
  EXPECT_GT(dirfd(folder.get()), STDERR_FILENO);
  EXPECT_FALSE(is_open(STDIN_FILENO));
}

TEST_F(ClosedStdin, APlaceholderKeepsOthersOutAndGoesAgain) {
  {
    const StandardPlaceholders placeholders;
    char byte = 0;
    EXPECT_EQ(read(STDIN_FILENO, &byte, 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(write(STDIN_FILENO, &byte, 1), -1);
    EXPECT_EQ(errno, EBADF);
    const int others = open("/dev/null", O_RDONLY | O_CLOEXEC);  // as a library that knows nothing of this
    EXPECT_GT(others, STDERR_FILENO);
    close(others);
  }
  EXPECT_FALSE(is_open(STDIN_FILENO));
}

TEST_F(ClosedStdin, WhatTheProgramPutsThereStays) {
  {
    const StandardPlaceholders placeholders;
    const UniqueFd own(open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(dup2(own.get(), STDIN_FILENO), STDIN_FILENO);
  }
  EXPECT_TRUE(is_open(STDIN_FILENO));
}

TEST(ReadFile, TellsNothingFromUnreadable) {
  EXPECT_EQ(read_file("/nonexistent"), "");
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(read_file("/dev/null"), "");
  EXPECT_EQ(errno, 0);
  EXPECT_NE(read_file("/proc/self/stat").find(std::to_string(getpid())), std::string::npos);
}

}  // namespace
}  // namespace railshmem
