// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/stages.h"

#include <gtest/gtest.h>

#include <barrier>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "src/base/error.h"
#include "src/world/world.h"
#include "tests/support/thread_bootstrap.h"

namespace railshmem {
namespace {

const std::vector<std::string> kStageNames = {"one", "two", "three", "four"};

/// Stages that write down what is called: "+one", "-one". The stage `failing` fails; "three" has no undo.
std::vector<Stage> recorded_stages(std::vector<std::string>& calls, const std::string& failing) {
  std::vector<Stage> stages;
  for (const std::string& name : kStageNames) {
    const auto setup = [&calls, &name, fails = name == failing] {
      calls.push_back("+" + name);
      if (fails) throw Error("no memory for " + name);
    };
    std::function<void()> undo;
    if (name != "three") undo = [&calls, &name] { calls.push_back("-" + name); };
    stages.push_back({name.c_str(), setup, undo});
  }
  return stages;
}

TEST(Stages, TeardownIsTheMirrorOfSetup) {
  std::vector<std::string> calls;
  Stages stages(recorded_stages(calls, ""));
  stages.setup();
  EXPECT_EQ(calls, (std::vector<std::string>{"+one", "+two", "+three", "+four"}));
  calls.clear();
  stages.undo();
  EXPECT_EQ(calls, (std::vector<std::string>{"-four", "-two", "-one"}));
  stages.undo();
  EXPECT_EQ(calls.size(), 3u);
}

TEST(Stages, AStageThatFailsUndoesItselfAndThoseBeforeIt) {
  for (size_t at = 0; at < kStageNames.size(); ++at) {
    std::vector<std::string> calls, expected;
    for (size_t i = 0; i <= at; ++i) expected.push_back("+" + kStageNames[i]);
    for (size_t i = at + 1; i-- > 0;)
      if (kStageNames[i] != "three") expected.push_back("-" + kStageNames[i]);
    Stages stages(recorded_stages(calls, kStageNames[at]));
    try {
      stages.setup();
      ADD_FAILURE() << kStageNames[at] << " did not fail";
    } catch (const Error& e) {
      EXPECT_EQ(e.what(), "no memory for " + kStageNames[at]);
    }
    EXPECT_EQ(calls, expected);
  }
}

TEST(Stages, OtherExceptionsPass) {
  bool undone = false;
  Stages stages({{"only", [] { throw std::bad_alloc(); }, [&] { undone = true; }}});
  EXPECT_THROW(stages.setup(), std::bad_alloc);
  EXPECT_TRUE(undone);
}

size_t count_entries(const char* folder) {
  size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}

/// Two PEs set up a World over a network, until all of them have passed `failing_stage`, and fail there; empty: they go
/// on and finish. Returns the stages that PE 0 passed; PE 0 throws what its World throws.
std::vector<std::string> start_two_pes(const std::string& failing_stage) {
  const Env env = Env::parse([](const char* name) -> const char* {
    const std::string asked = name;
    if (asked == "SHMEM_TRANSPORT") return "loopback";
    if (asked == "SHMEM_NODE_SIZE") return "1";
    if (asked == "SHMEM_SYMMETRIC_SIZE") return "1M";
    return nullptr;
  });
  ThreadMeeting meeting(2);
  std::barrier<> passed(2);
  std::vector<std::string> stages;
  std::exception_ptr failure;
  const auto run = [&](int pe) {
    WorldOptions options;
    options.pes_are_threads = true;
    options.after_stage = [&, pe](const char* stage) {
      if (pe == 0) stages.push_back(stage);
      if (stage != failing_stage) return;
      passed.arrive_and_wait();
      throw Error("made to fail");
    };
    ThreadBootstrap bootstrap(meeting, pe);
    try {
      World world(env, bootstrap, options);
      bind_pe_state(&world.state());
      world.finish();
      bind_pe_state(nullptr);
    } catch (...) {
      if (pe == 0) failure = std::current_exception();
    }
  };
  {
    std::jthread one([&] { run(1); });
    std::jthread zero([&] { run(0); });
  }
  if (failure) std::rethrow_exception(failure);
  return stages;
}

TEST(World, GivesEverythingBackWhereverItsSetupFails) {
  const std::vector<std::string> stages = start_two_pes("");
  ASSERT_GE(stages.size(), 10u);
  for (const std::string& stage : stages) {
    SCOPED_TRACE(stage);
    const size_t fds = count_entries("/proc/self/fd");
    const size_t tasks = count_entries("/proc/self/task");
    try {
      start_two_pes(stage);
      ADD_FAILURE() << "the setup did not fail";
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), "made to fail");
    }
    EXPECT_EQ(count_entries("/proc/self/fd"), fds);
    EXPECT_EQ(count_entries("/proc/self/task"), tasks);
  }
}

}  // namespace
}  // namespace railshmem
