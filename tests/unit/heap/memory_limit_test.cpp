// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/memory_limit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace railshmem {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr const char* kNoLimit = "9223372036854771712\n";

/// Files as the kernel shows them, in a folder that stands for the root.
class MemoryLimit : public testing::Test {
 protected:
  MemoryLimit() {
    EXPECT_NE(mkdtemp(root_.data()), nullptr);
    write("/proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 1 kB\nMemAvailable: 4194304 kB\nSwapFree: 0 kB\n");
  }
  ~MemoryLimit() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& content) const {
    const std::filesystem::path path = root_ + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }
  void version_1(const std::string& top = "/") const {
    write("/proc/self/cgroup", "9:name=systemd:/x\n4:hugetlb,memory:/user/job\n1:cpu:/y\n0::/\n");
    write("/proc/self/mountinfo",
          "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n32 31 0:29 / /sys/fs/cgroup/cpu rw "
          "shared:2 - cgroup cgroup rw,cpu\n35 31 0:32 " +
              top + " /cg rw shared:1 - cgroup cgroup rw,hugetlb,memory\n");
  }
  void group_1(const std::string& group, const std::string& limit, const std::string& used,
               const std::string& stat) const {
    write("/cg" + group + "/memory.limit_in_bytes", limit);
    write("/cg" + group + "/memory.usage_in_bytes", used);
    write("/cg" + group + "/memory.stat", stat);
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_ = testing::TempDir() + "memory_limit_XXXXXX";
};

TEST_F(MemoryLimit, WithoutGroupsTheHostsMemoryCounts) {
  EXPECT_EQ(available_memory(root()), 4096 * kMebibyte);
  EXPECT_EQ(total_memory(root()), 8192 * kMebibyte);
}

TEST_F(MemoryLimit, AGroupOfVersion1Limits) {
  version_1();
  group_1("/user/job", "104857600\n", "41943040\n",
          "cache 1\ninactive_file 1\ntotal_inactive_file 10485760\ntotal_active_file 10485760\n");
  EXPECT_EQ(total_memory(root()), 100 * kMebibyte);
  EXPECT_EQ(available_memory(root()), 80 * kMebibyte);  // 100 less 40, of which 20 are page cache
}

TEST_F(MemoryLimit, AGroupAboveOfVersion1Limits) {
  version_1();
  group_1("/user/job", kNoLimit, "0\n", "");
  group_1("/user", "209715200\n", "104857600\n", "");
  EXPECT_EQ(total_memory(root()), 200 * kMebibyte);
  EXPECT_EQ(available_memory(root()), 100 * kMebibyte);
}

TEST_F(MemoryLimit, AGroupThatAContainerDoesNotSeeLimits) {
  version_1("/user/job");
  group_1("", kNoLimit, "0\n", "hierarchical_memory_limit 314572800\n");
  EXPECT_EQ(total_memory(root()), 300 * kMebibyte);
}

TEST_F(MemoryLimit, GroupsOfVersion1WithoutLimitDoNot) {
  version_1();
  group_1("/user/job", kNoLimit, "41943040\n", "hierarchical_memory_limit 9223372036854771712\n");
  EXPECT_EQ(total_memory(root()), 8192 * kMebibyte);
  EXPECT_EQ(available_memory(root()), 4096 * kMebibyte);
}

TEST_F(MemoryLimit, AGroupOfVersion2Limits) {
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  write("/sys/fs/cgroup/user/memory.max", "104857600\n");
  write("/sys/fs/cgroup/user/memory.current", "52428800\n");
  write("/sys/fs/cgroup/user/memory.stat", "inactive_file 10485760\nactive_file 0\n");
  EXPECT_EQ(total_memory(root()), 100 * kMebibyte);
  EXPECT_EQ(available_memory(root()), 60 * kMebibyte);
}

}  // namespace
}  // namespace railshmem
