// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/link_state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "transports/ofi/nic_facts.h"

namespace railshmem::ofi {
namespace {

namespace fs = std::filesystem;

/// Describes one interface, eth7, as the system does.
class FakeSystem {
 public:
  FakeSystem() : root_(fs::temp_directory_path() / ("railshmem_link_" + std::to_string(getpid()))) {
    fs::create_directories(root_ / "eth7");
  }
  ~FakeSystem() { fs::remove_all(root_); }
  FakeSystem(const FakeSystem&) = delete;

  void say(const char* file, const std::string& word) { std::ofstream(root_ / "eth7" / file) << word << '\n'; }
  std::string root() const { return root_.string(); }

 private:
  const fs::path root_;
};

TEST(LinkState, FollowsTheWordOfTheSystem) {
  FakeSystem system;
  system.say("operstate", "up");
  const LinkState link("eth7", system.root());
  EXPECT_TRUE(link.is_told());
  const std::pair<const char*, bool> words[] = {{"up", true},          {"down", false},   {"unknown", true},
                                                {"dormant", true},     {"testing", true}, {"lowerlayerdown", false},
                                                {"notpresent", false}, {"", true},        {"up", true}};
  for (const auto& [word, up] : words) {
    system.say("operstate", word);
    EXPECT_EQ(link.is_up(), up) << word;
  }
}

TEST(LinkState, OfEveryInterfaceHereIsWhatTheSystemSays) {
  std::error_code failed;
  for (const auto& folder : fs::directory_iterator(LinkState::kSystem, failed)) {
    std::string word;
    std::ifstream(folder.path() / "operstate") >> word;
    const bool down = word == "down" || word == "lowerlayerdown" || word == "notpresent";
    EXPECT_EQ(LinkState(folder.path().filename()).is_up(), !down) << folder.path() << " is " << word;
  }
  EXPECT_TRUE(LinkState("lo").is_up()) << "loopback says unknown";
}

TEST(LinkState, WhatNobodyTellsIsUp) {
  for (const LinkState& link : {LinkState(), LinkState(""), LinkState("no such interface")}) {
    EXPECT_FALSE(link.is_told());
    EXPECT_TRUE(link.is_up());
  }
}

// The folder may be that of another network namespace, whose interfaces may have the names of ours.
TEST(LinkState, OfAnotherInterfaceOfThatNameIsNotBelieved) {
  FakeSystem system;
  system.say("operstate", "down");
  system.say("ifindex", "123456");
  NicFacts facts;
  facts.interface = "eth7";
  EXPECT_FALSE(LinkState::of(facts, system.root()).is_told());
}

}  // namespace
}  // namespace railshmem::ofi
