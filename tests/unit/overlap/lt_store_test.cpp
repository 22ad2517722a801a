// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/lt_store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace railshmem::overlap {
namespace {

lt::Algorithm algorithm(uint64_t number) {
  lt::Algorithm made{};
  for (size_t i = 0; i < made.data.size(); ++i) made.data[i] = number * 0x9e3779b97f4a7c15u + i;
  return made;
}

class OverlapStore : public testing::Test {
 protected:
  OverlapStore() { EXPECT_NE(mkdtemp(top_.data()), nullptr); }
  ~OverlapStore() override { std::filesystem::remove_all(top_); }
  std::string folder() const { return top_ + "/cache/railshmem"; }
  std::string file() const { return folder() + "/overlap_algorithms.txt"; }
  std::string content() const {
    std::ostringstream all;
    all << std::ifstream(file()).rdbuf();
    return all.str();
  }

 private:
  std::string top_ = testing::TempDir() + "overlap_store_XXXXXX";
};

TEST_F(OverlapStore, KeepsWhatAnotherProcessFinds) {
  LtStore one(folder());
  EXPECT_FALSE(one.find("a product"));
  EXPECT_EQ(one.keep("a product", algorithm(1), {}).data, algorithm(1).data);
  EXPECT_EQ(one.keep("another one", algorithm(2), {}).data, algorithm(2).data);
  const LtStore other(folder());
  ASSERT_TRUE(other.find("a product"));
  EXPECT_EQ(other.find("a product")->data, algorithm(1).data);
  EXPECT_EQ(other.find("another one")->data, algorithm(2).data);
  EXPECT_FALSE(other.find("a"));
}

TEST_F(OverlapStore, TheFirstChoiceStays) {
  LtStore one(folder()), other(folder());
  one.keep("a product", algorithm(1), {});
  EXPECT_EQ(other.keep("a product", algorithm(2), {}).data, algorithm(1).data);
  EXPECT_EQ(other.find("a product")->data, algorithm(1).data);
}

TEST_F(OverlapStore, AChoiceThatDoesNotFitIsReplacedOnce) {
  LtStore one(folder()), other(folder());
  one.keep("a product", algorithm(1), {});
  EXPECT_EQ(one.keep("a product", algorithm(2), algorithm(1)).data, algorithm(2).data);
  EXPECT_EQ(other.keep("a product", algorithm(3), algorithm(1)).data, algorithm(2).data);
}

TEST_F(OverlapStore, DamagedLinesAreLeftOutAndDropped) {
  LtStore store(folder());
  store.keep("a product", algorithm(1), {});
  store.keep("b product", algorithm(2), {});
  std::string all = content();
  all[all.rfind("b product")] = 'c';  // its checksum is that of the line before
  std::ofstream(file()) << all << "no line of ours\n" << all.substr(0, all.size() / 2);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(store.find("a product"));
  EXPECT_FALSE(store.find("c product"));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("damaged lines: 3, the first one is line 3"),
            std::string::npos);
  store.keep("d product", algorithm(3), {});
  EXPECT_EQ(content().find("c product"), std::string::npos);
  testing::internal::CaptureStderr();
  EXPECT_EQ(store.find("a product")->data, algorithm(1).data);
  EXPECT_EQ(store.find("d product")->data, algorithm(3).data);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(OverlapStore, AFolderThatCannotBeMadeIsSaidOnce) {
  LtStore store("/dev/null/railshmem");
  testing::internal::CaptureStderr();
  EXPECT_EQ(store.keep("a product", algorithm(1), {}).data, algorithm(1).data);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/dev/null/railshmem/"), std::string::npos);
  testing::internal::CaptureStderr();
  EXPECT_EQ(store.keep("a product", algorithm(2), {}).data, algorithm(2).data);
  EXPECT_FALSE(store.find("a product"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(OverlapStore, WithoutAFolderNothingIsKept) {
  LtStore store("");
  EXPECT_EQ(store.keep("a product", algorithm(1), {}).data, algorithm(1).data);
  EXPECT_FALSE(store.find("a product"));
}

TEST_F(OverlapStore, ProcessesThatWriteAtOnceLoseNothingAndAgree) {
  constexpr int kProcesses = 4, kProducts = 25;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      LtStore store(folder());
      bool well = true;
      for (int p = 0; p < kProducts; ++p) {
        const std::string own = std::to_string(i) + " own " + std::to_string(p), shared = "shared " + std::to_string(p);
        well &=
            store.keep(own, algorithm(static_cast<uint64_t>(i)), {}).data == algorithm(static_cast<uint64_t>(i)).data;
        const lt::Algorithm kept = store.keep(shared, algorithm(static_cast<uint64_t>(100 + i)), {});
        well &= store.find(shared) && store.find(shared)->data == kept.data;
      }
      _exit(well ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const LtStore store(folder());
  for (int p = 0; p < kProducts; ++p) {
    EXPECT_TRUE(store.find("shared " + std::to_string(p)));
    for (int i = 0; i < kProcesses; ++i) EXPECT_TRUE(store.find(std::to_string(i) + " own " + std::to_string(p)));
  }
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder())) ++files;
  EXPECT_EQ(files, 2u) << "the file and its lock, and nothing of those who wrote";
}

TEST(OverlapStoreFolder, IsTheUsersCache) {
  const auto with = [](const char* cache, const char* home) {
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("HOME", home, 1);
    return store_folder();
  };
  EXPECT_EQ(with("/cache", "/home/me"), "/cache/railshmem");
  EXPECT_EQ(with("", "/home/me"), "/home/me/.cache/railshmem");
  EXPECT_EQ(with("relative", "/home/me"), "/home/me/.cache/railshmem");
  EXPECT_EQ(with("", ""), "");
}

}  // namespace
}  // namespace railshmem::overlap
