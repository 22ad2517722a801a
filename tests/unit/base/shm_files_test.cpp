// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/shm_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

}  // namespace
}  // namespace railshmem
