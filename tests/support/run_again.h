// SPDX-License-Identifier: BSD-3-Clause
// One test of this binary in a process of its own.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace railshmem {

/// Turns a forked child into this binary, running `test`, even a disabled one. Does not return.
[[noreturn]] inline void run_again(const std::string& test) {
  for (const char* share : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE"})
    unsetenv(share);  // ours may have dealt `test` to another process, and then nothing would run
  const std::string filter = "--gtest_filter=" + test;
  execl("/proc/self/exe", "run_again", filter.c_str(), "--gtest_also_run_disabled_tests", nullptr);
  _exit(127);
}

}  // namespace railshmem
