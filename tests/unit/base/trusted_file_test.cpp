// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/trusted_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/base/plugin_file.h"

namespace railshmem {
namespace {

constexpr uid_t kStranger = 54321;

class TrustedFiles : public testing::Test {
 protected:
  TrustedFiles() {
    EXPECT_NE(mkdtemp(top_.data()), nullptr);
    std::filesystem::create_directories(folder());
    chmod(folder().c_str(), 0755);
    std::ofstream(file()) << "content";
    chmod(file().c_str(), 0644);
  }
  ~TrustedFiles() override { std::filesystem::remove_all(top_); }

  std::string folder() const { return top_ + "/lib/railshmem"; }
  std::string file() const { return folder() + "/file"; }
  std::string content() const {
    std::ostringstream all;
    all << std::ifstream(file()).rdbuf();
    return all.str();
  }
  std::string refusal() const { return open_trusted(file(), O_RDONLY).refusal; }
  static bool give_away(const std::string& path) { return lchown(path.c_str(), kStranger, kStranger) == 0; }

  const std::string& top() const { return top_; }

 private:
  std::string top_ = testing::TempDir() + "trusted_XXXXXX";
};

TEST_F(TrustedFiles, TheUsersOwnIsOpened) {
  const TrustedFile opened = open_trusted(file(), O_RDONLY);
  EXPECT_EQ(opened.refusal, "");
  char first = 0;
  EXPECT_EQ(read(opened.fd.get(), &first, 1), 1);
  EXPECT_EQ(first, 'c');
  EXPECT_EQ(opened.path, std::filesystem::canonical(file()));
}

TEST_F(TrustedFiles, WhatIsMissingHasAnError) {
  const TrustedFile opened = open_trusted(file() + "s", O_RDONLY);
  EXPECT_FALSE(opened.fd);
  EXPECT_EQ(opened.error, ENOENT);
}

TEST_F(TrustedFiles, AFileThatOthersMayWriteIsRefused) {
  chmod(file().c_str(), 0646);
  EXPECT_NE(refusal().find("can be written by other users (its mode is 0646)"), std::string::npos) << refusal();
}

TEST_F(TrustedFiles, FoldersThatOthersMayWriteAreRefused) {
  for (const std::string& one : {folder(), top() + "/lib"}) {
    chmod(one.c_str(), 0757);
    EXPECT_NE(refusal().find(one + ", which can be written by other users"), std::string::npos) << refusal();
    chmod(one.c_str(), 01777);  // nobody may rename another user's files here
    EXPECT_EQ(refusal(), "");
    chmod(one.c_str(), 0755);
  }
}

TEST_F(TrustedFiles, AnotherUsersFileIsRefusedUnlessThatUserIsNamed) {
  if (!give_away(file())) GTEST_SKIP() << "only root can give a file away";
  EXPECT_EQ(refusal(), "belongs to another user (uid 54321)");
  EXPECT_TRUE(open_trusted(file(), O_RDONLY, {kStranger, {}}).fd);
}

TEST_F(TrustedFiles, AnotherUsersFolderIsRefused) {
  if (!give_away(top() + "/lib")) GTEST_SKIP() << "only root can give a folder away";
  EXPECT_NE(refusal().find("/lib, which belongs to another user (uid 54321)"), std::string::npos) << refusal();
}

TEST_F(TrustedFiles, ASharedGroupsFileIsRefused) {
  if (chown(file().c_str(), getuid(), kStranger) != 0) GTEST_SKIP() << "only root can choose any group";
  chmod(file().c_str(), 0664);
  EXPECT_NE(refusal().find("can be written by group 54321"), std::string::npos) << refusal();
}

TEST_F(TrustedFiles, AGroupThatCanExchangeTheLibraryMayWrite) {
  const std::string lib = top() + "/lib";
  const std::string library = lib + "/library";
  std::ofstream(library) << "code";
  for (const std::string& path : {lib, folder(), file(), library})
    if (chown(path.c_str(), getuid(), kStranger) != 0) GTEST_SKIP() << "only root can choose any group";
  const auto set = [&](mode_t of_folders, mode_t of_file, mode_t of_library) {
    for (const std::string& path : {lib, folder()}) chmod(path.c_str(), of_folders);
    chmod(file().c_str(), of_file);
    chmod(library.c_str(), of_library);
  };
  const auto beside_library = [&] { return open_trusted(file(), O_RDONLY, keepers_of(library)).refusal; };
  set(0775, 0664, 0644);  // what umask 002 gives: the folder of the library decides
  EXPECT_NE(refusal(), "");
  EXPECT_EQ(beside_library(), "");
  set(0755, 0664, 0664);  // the library itself
  EXPECT_EQ(beside_library(), "");
  set(0755, 0664, 0644);  // only the file
  EXPECT_NE(beside_library().find("can be written by group 54321"), std::string::npos) << beside_library();
  set(0775, 0664, 0644);
  chmod(lib.c_str(), 01775);  // the group can exchange nothing here
  EXPECT_NE(beside_library(), "");
  set(0775, 0664, 0664);
  EXPECT_EQ(chown(library.c_str(), getuid(), kStranger + 1), 0);
  EXPECT_EQ(chown(lib.c_str(), getuid(), kStranger + 1), 0);  // another group
  EXPECT_NE(beside_library(), "");
}

TEST_F(TrustedFiles, WhatAllMayWriteIsRefusedEvenWhereTheyMayWriteToTheLibrary) {
  const std::string library = top() + "/lib/library";
  std::ofstream(library) << "code";
  chmod(library.c_str(), 0777);
  chmod(file().c_str(), 0666);
  EXPECT_NE(open_trusted(file(), O_RDONLY, keepers_of(library)).refusal.find("by other users"), std::string::npos);
  chmod(file().c_str(), 0644);
  chmod(folder().c_str(), 0777);
  EXPECT_NE(open_trusted(file(), O_RDONLY, keepers_of(library)).refusal.find("by other users"), std::string::npos);
}

TEST_F(TrustedFiles, ALinkIsLookedAtWhereItLeads) {
  ASSERT_EQ(symlink(folder().c_str(), (top() + "/link").c_str()), 0);
  chmod(folder().c_str(), 0757);
  EXPECT_NE(open_trusted(top() + "/link/file", O_RDONLY).refusal.find("which can be written"), std::string::npos);
}

TEST_F(TrustedFiles, OutputIsMadeAndOverwritten) {
  const std::string fresh = folder() + "/fresh";
  EXPECT_TRUE(open_own_output(fresh, O_WRONLY | O_TRUNC, 0600).fd);
  EXPECT_TRUE(std::filesystem::exists(fresh));
  EXPECT_TRUE(open_own_output(file(), O_WRONLY | O_TRUNC, 0600).fd);
  EXPECT_EQ(content(), "");
}

TEST_F(TrustedFiles, OutputIntoAnotherUsersFileIsRefusedAndTheFileKept) {
  if (!give_away(file())) GTEST_SKIP() << "only root can give a file away";
  const TrustedFile opened = open_own_output(file(), O_WRONLY | O_TRUNC, 0600);
  EXPECT_EQ(opened.refusal, "belongs to another user (uid 54321)");
  EXPECT_EQ(content(), "content");
}

TEST_F(TrustedFiles, OutputFollowsNoLinkOfAnotherUser) {
  const std::string link = top() + "/link";
  ASSERT_EQ(symlink(file().c_str(), link.c_str()), 0);
  EXPECT_TRUE(open_own_output(link, O_WRONLY, 0600).fd);
  if (!give_away(link)) GTEST_SKIP() << "only root can give a link away";
  const TrustedFile opened = open_own_output(link, O_WRONLY | O_TRUNC, 0600);
  EXPECT_EQ(opened.refusal, "is a link that belongs to another user");
  EXPECT_EQ(content(), "content");
}

TEST_F(TrustedFiles, OutputIntoAFifoWithoutAReaderDoesNotWait) {
  const std::string fifo = top() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(open_own_output(fifo, O_WRONLY | O_TRUNC, 0600).error, ENXIO);
}

TEST(PluginFile, AProgramLooksIntoLibBeforeItsOwnFolder) {
  const std::vector<std::string> places = plugin_places({"/opt/rail/bin/program", true}, "x");
  EXPECT_EQ(places.front(), "/opt/rail/bin/../lib/railshmem/librailshmem-x.so");
  EXPECT_EQ(plugin_places({"/opt/rail/lib64/librailshmem.so", false}, "x").front(),
            "/opt/rail/lib64/railshmem/librailshmem-x.so");
}

TEST(PluginFile, AnotherUsersPluginIsNotFound) {
  // Beside this test program, which holds the library.
  const std::filesystem::path folder = std::filesystem::canonical("/proc/self/exe").parent_path() / "railshmem";
  const std::string name = "test-" + std::to_string(getpid());
  const std::filesystem::path file = folder / ("librailshmem-" + name + ".so");
  const bool made = std::filesystem::create_directory(folder);
  std::ofstream(file) << "code";
  chmod(file.c_str(), 0755);
  EXPECT_EQ(find_plugin_file(name), file);
  if (lchown(file.c_str(), kStranger, kStranger) == 0) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(find_plugin_file(name), "");
    EXPECT_NE(testing::internal::GetCapturedStderr().find("belongs to another user (uid 54321)"), std::string::npos);
  }
  std::filesystem::remove(file);
  if (made) std::filesystem::remove(folder);
}

}  // namespace
}  // namespace railshmem
