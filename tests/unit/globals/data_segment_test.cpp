// SPDX-License-Identifier: BSD-3-Clause
// The unit test binary on itself; tests/unit/globals/data_segment has a program for what needs one.
#include "src/globals/data_segment.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "src/globals/shared_data.h"

namespace railshmem {
namespace {

int g_initialised = 41;
int g_zero;
const int kConstant = 3;
int* const g_relocated = &g_zero;  // read-only after relocation

TEST(DataSegment, HoldsGlobalsAndNothingElse) {
  const DataSegment segment = find_data_segment();
  static int in_function;
  thread_local int per_thread;
  int on_stack = 0;
  const auto allocated = std::make_unique<int>();
  for (const int* symmetric : {&g_initialised, &g_zero, &in_function}) EXPECT_TRUE(segment.contains(symmetric));
  for (const int* other : {&kConstant, const_cast<const int*>(&per_thread), const_cast<const int*>(&on_stack),
                           const_cast<const int*>(allocated.get())})
    EXPECT_FALSE(segment.contains(other));
  EXPECT_FALSE(segment.contains(&g_relocated));
  EXPECT_FALSE(segment.contains(&errno));
  EXPECT_FALSE(segment.contains(nullptr));
}

TEST(DataSegment, IsWholePagesAroundTheObjects) {
  const DataSegment segment = find_data_segment();
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(segment.base) % page, 0u);
  EXPECT_EQ(segment.nbytes % page, 0u);
  EXPECT_LE(segment.base, segment.objects);
  EXPECT_GE(segment.base + segment.nbytes, segment.objects + segment.object_nbytes);
  EXPECT_LT(segment.nbytes, segment.object_nbytes + 2 * page);
  EXPECT_EQ(segment.ranges, 1);
  EXPECT_EQ(segment.protection, PROT_READ | PROT_WRITE);
  EXPECT_FALSE(segment.static_executable);
  EXPECT_NE(segment.id, ExecutableId{});
  EXPECT_EQ(segment.id, find_data_segment().id);
}

/// The library's own globals, gtest's and the sanitizers' are all in the moved range here.
void share_self() {
  g_zero = 1;
  const DataSegment segment = find_data_segment();
  const SharedData shared = share_data_segment(segment);
  if (!shared) {
    std::fprintf(stderr, "not shareable: %s\n", shared.refusal.c_str());
    _exit(77);
  }
  if (g_initialised != 41 || g_zero != 1) _exit(1);
  void* mapped = mmap(nullptr, segment.nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared.memory.get(), 0);
  if (mapped == MAP_FAILED) _exit(2);
  auto* seen = reinterpret_cast<volatile int*>(static_cast<std::byte*>(mapped) +
                                               (reinterpret_cast<std::byte*>(&g_zero) - segment.base));
  *seen = 2;
  if (*const_cast<volatile int*>(&g_zero) != 2) _exit(3);
  const pid_t child = fork();
  if (child == 0) {
    g_zero = 3;
    _exit(0);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) _exit(4);
  if (*seen != 2 || g_zero != 2) _exit(5);
  if (!unshare_data_segment()) _exit(6);
  *seen = 4;
  if (*const_cast<volatile int*>(&g_zero) != 2) _exit(7);
  _exit(0);
}

TEST(DataSegment, MovesTheCodesOwnGlobals) {
  const pid_t child = fork();
  if (child == 0) share_self();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this program's globals cannot be shared; the reason is printed above";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(DataSegment, RefusalsNameTheReason) {
  DataSegment none;
  EXPECT_NE(share_data_segment(none).refusal.find("no global objects"), std::string::npos);
  DataSegment segment = find_data_segment();
  segment.static_executable = true;
  EXPECT_NE(share_data_segment(segment).refusal.find("statically"), std::string::npos);
  segment.static_executable = false;
  segment.ranges = 2;
  EXPECT_NE(share_data_segment(segment).refusal.find("2 separate pieces"), std::string::npos);
  segment.ranges = 1;
  segment.nbytes += size_t{1} << 40;
  EXPECT_FALSE(share_data_segment(segment));
  EXPECT_TRUE(unshare_data_segment());
}

}  // namespace
}  // namespace railshmem
