// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/shm_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

namespace railshmem {
namespace {

constexpr uint64_t kSince = 0x18ea91ac2841cc9d;

TEST(ShmFiles, OnlyThoseOfTheNamedProcessesSinceThenGo) {
  const std::string folder = ::testing::TempDir() + "shm_files_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const std::string user = std::to_string(getuid());
  const std::string theirs = std::to_string(getuid() + 1);
  const std::string gone[] = {"4711_18ea91ac2841cc9d_0:" + user + ":0", "4711_18ea91ac2841cc9e_1:" + user + ":1_17",
                              "4711_18ea91ac2841cc9d_0:" + user + ":0:99881", "12_28ea91ac2841cc9d_12:" + user + ":0"};
  const std::string kept[] = {"4711_18ea91ac2841cc9c_0:" + user + ":0",    // another process's, before
                              "12_8ea91ac2841cc9d_0:" + user + ":0",       // another process's, before
                              "4711:" + user + ":0",                       // not of transports/ofi
                              "4711_118ea91ac2841cc9d_0:" + user + ":0",   // no time: more than 64 bits
                              "4711_-18ea91ac2841cc9e_0:" + user + ":0",   // no time: negative
                              "4711_0x18ea91ac2841cc9e_0:" + user + ":0",  // no time: with a prefix
                              "47110_18ea91ac2841cc9d_0:" + user + ":0",
                              "471_18ea91ac2841cc9d_0:" + user + ":0",
                              "-4711_18ea91ac2841cc9d_0:" + user + ":0",
                              "99994711471147114711_18ea91ac2841cc9d_0:" + user + ":0",
                              "4711_18ea91ac2841cc9d_0:" + theirs + ":0",
                              "4711_18ea91ac2841cc9d_0:" + user,
                              "4711_18ea91ac2841cc9d_0",
                              "4711_18ea91ac2841cc9d",
                              "4711_",
                              "4711",
                              "4711_notes",
                              "sem.4711_18ea91ac2841cc9d_0:" + user + ":0",
                              "notes"};
  for (const std::string& name : gone) std::ofstream(folder + "/" + name) << "x";
  for (const std::string& name : kept) std::ofstream(folder + "/" + name) << "x";
  const std::string directory = folder + "/4711_18ea91ac2841cc9d_7:" + user + ":7";
  std::filesystem::create_directory(directory);
  const pid_t processes[] = {4711, 12};
  EXPECT_EQ(remove_shm_files(processes, kSince, folder.c_str()), static_cast<int>(std::size(gone)));
  for (const std::string& name : gone) EXPECT_FALSE(std::filesystem::exists(folder + "/" + name)) << name;
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
  EXPECT_TRUE(std::filesystem::exists(directory));
  EXPECT_EQ(remove_shm_files(processes, kSince, (folder + "/none").c_str()), 0);
  std::filesystem::remove_all(folder);
}

/// A folder that stands for /dev/shm.
class ShmClaims : public testing::Test {
 protected:
  ShmClaims() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~ShmClaims() override { std::filesystem::remove_all(folder_); }

  const char* folder() const { return folder_.c_str(); }
  std::string make(const std::string& name) const {
    std::ofstream(folder_ + "/" + name) << "x";
    return name;
  }
  bool has(const std::string& name) const { return std::filesystem::exists(folder_ + "/" + name); }
  int entries() const { return static_cast<int>(std::distance(std::filesystem::directory_iterator(folder_), {})); }
  /// What a process of this name makes: an endpoint, and what the provider puts beside it.
  void make_files_of(pid_t process, uint64_t since_ns) const {
    std::ostringstream name;
    name << process << '_' << std::hex << since_ns << std::dec << "_0:" << getuid() << ":0";
    make(name.str());
    make(name.str() + "_17");
  }
  /// A process with a claim and files that ends without giving them up. `at_work` runs while it lives.
  void lose_a_process(const std::function<void()>& at_work) const {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const ShmClaim claim(folder());
      make_files_of(getpid(), claim.since_ns());
      if (write(ready[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    at_work();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
  }

 private:
  std::string folder_ = testing::TempDir() + "shm_claims_XXXXXX";
};

TEST_F(ShmClaims, AClaimGoesWithItsOwner) {
  {
    const ShmClaim claim(folder());
    EXPECT_EQ(entries(), 1);
    EXPECT_EQ(sweep_shm_files(folder()), 0);
    EXPECT_EQ(entries(), 1);
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(ShmClaims, FilesOfALivingProcessStayAndOfADeadOneGo) {
  lose_a_process([this] {
    EXPECT_EQ(entries(), 3);
    EXPECT_EQ(sweep_shm_files(folder()), 0);
  });
  EXPECT_EQ(entries(), 3);
  EXPECT_EQ(sweep_shm_files(folder()), 3);
  EXPECT_EQ(entries(), 0);
}

TEST_F(ShmClaims, FilesOfOthersStay) {
  const ShmClaim own(folder());
  make_files_of(getpid(), own.since_ns());
  const std::string kept[] = {make("notes"), make("sem.x"),
                              make("4711_18ea91ac2841cc9d_0:" + std::to_string(getuid()) + ":0"),
                              make("4711:" + std::to_string(getuid()) + ":0"), make(":claim")};
  const int before = entries();
  lose_a_process([] {});
  EXPECT_EQ(sweep_shm_files(folder()), 3);
  EXPECT_EQ(entries(), before);
  for (const std::string& name : kept) EXPECT_TRUE(has(name)) << name;
}

TEST_F(ShmClaims, AFileThatOnlyLooksLikeAClaimRemovesNothingOfALivingProcess) {
  const ShmClaim own(folder());
  make_files_of(getpid(), own.since_ns());
  make("4711_18ea91ac2841cc9d_0:" + std::to_string(getuid()) + ":claim");
  EXPECT_EQ(sweep_shm_files(folder()), 1);
  EXPECT_EQ(entries(), 3);
}

TEST_F(ShmClaims, WithoutAFolderNothingHappens) {
  const ShmClaim claim("/nonexistent");
  EXPECT_NE(claim.since_ns(), 0u);
  EXPECT_EQ(sweep_shm_files("/nonexistent"), 0);
}

}  // namespace
}  // namespace railshmem
