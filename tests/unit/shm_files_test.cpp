// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/shm_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace railshmem {
namespace {

TEST(ShmFiles, OnlyThoseOfTheNamedProcessesGo) {
  const std::string folder = ::testing::TempDir() + "shm_files_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const std::string user = std::to_string(getuid());
  const std::string theirs = std::to_string(getuid() + 1);
  const std::string gone[] = {"4711:" + user + ":0", "4711_18ea91ac2841cc9d_0:" + user + ":0",
                              "4711_18ea91ac2841cc9d_1:" + user + ":1_17", "4711:" + user + ":0:99881",
                              "12_18ea_0:" + user + ":0"};
  const std::string kept[] = {"47110:" + user + ":0",
                              "471:" + user + ":0",
                              "4711:" + theirs + ":0",
                              "4711_18ea91ac2841cc9d_0:" + theirs + ":0",
                              "4711",
                              "4711_notes",
                              "4711-x:" + user + ":0",
                              "sem.4711:" + user + ":0",
                              "notes"};
  for (const std::string& name : gone) std::ofstream(folder + "/" + name) << "x";
  for (const std::string& name : kept) std::ofstream(folder + "/" + name) << "x";
  std::filesystem::create_directory(folder + "/4711:" + user + ":7");
  const pid_t processes[] = {4711, 12};
  EXPECT_EQ(remove_shm_files(processes, folder.c_str()), static_cast<int>(std::size(gone)));
  for (const std::string& name : gone) EXPECT_FALSE(std::filesystem::exists(folder + "/" + name)) << name;
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
  EXPECT_TRUE(std::filesystem::exists(folder + "/4711:" + user + ":7"));
  EXPECT_EQ(remove_shm_files(processes, (folder + "/none").c_str()), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace railshmem
