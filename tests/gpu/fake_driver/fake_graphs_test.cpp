// SPDX-License-Identifier: BSD-3-Clause
// Captures, graphs and user objects of the fake driver.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "src/base/cpu.h"
#include "tests/gpu/fake_driver/fake_driver.h"
#include "tests/support/fake_program_calls.h"

namespace railshmem::cuda {

namespace {

struct GraphRig {
  explicit GraphRig(const FakeOptions& options = {}) : fake(options), driver(fake.driver()) {
    driver.primary_retain(&context, 0);
    driver.set_context(context);
    memory = fake.allocate(64);
    EXPECT_EQ(driver.stream_create(&stream, kStreamNonBlocking, 0), kSuccess);
    EXPECT_EQ(driver.stream_create(&other, kStreamNonBlocking, 0), kSuccess);
  }
  ~GraphRig() {
    EXPECT_EQ(driver.stream_destroy(stream), kSuccess);
    EXPECT_EQ(driver.stream_destroy(other), kSuccess);
    driver.set_context(nullptr);
    driver.primary_release(0);
    EXPECT_EQ(fake.leaks(), "");
  }
  Result fill(int at, unsigned char value, Stream into) {
    return driver.fill_async(address_of(memory + at), value, 1, into);
  }
  int at(int place) const { return static_cast<int>(memory[place]); }

  FakeDriver fake;
  const Driver& driver;
  Context context = nullptr;
  std::byte* memory = nullptr;
  Stream stream = nullptr, other = nullptr;
};

template <class Reached>
bool comes_true(const Reached& reached) {
  for (const uint64_t end = now_ns() + 10'000'000'000; now_ns() < end; std::this_thread::yield())
    if (reached()) return true;
  return false;
}

TEST(FakeGraphs, WhatIsCapturedRunsAtEachLaunch) {
  GraphRig rig;
  Graph graph = nullptr, ready = nullptr;
  int status = -1;
  uint64_t id = 0;
  EXPECT_EQ(rig.driver.capture_info(rig.stream, &status, &id, &graph, nullptr, nullptr), kSuccess);
  EXPECT_EQ(status, kCapturingNot);
  ASSERT_EQ(cuStreamBeginCapture_v2(rig.stream, CaptureMode::thread_local_), kSuccess);
  EXPECT_EQ(rig.driver.capture_info(rig.stream, &status, &id, &graph, nullptr, nullptr), kSuccess);
  EXPECT_EQ(status, kCapturing);
  EXPECT_NE(id, 0u);
  const Graph captured = graph;
  EXPECT_EQ(rig.fill(0, 7, rig.stream), kSuccess);
  EXPECT_EQ(rig.driver.stream_query(rig.stream), kCaptureUnsupported);
  EXPECT_EQ(rig.driver.synchronize_context(), kCaptureUnsupported);
  ASSERT_EQ(cuStreamEndCapture(rig.stream, &graph), kSuccess);
  EXPECT_EQ(graph, captured);
  EXPECT_EQ(rig.at(0), 0) << "nothing has run";
  ASSERT_EQ(cuGraphInstantiateWithFlags(&ready, graph, 0), kSuccess);
  for (int turn = 0; turn < 2; ++turn) {
    rig.memory[0] = std::byte{0};
    ASSERT_EQ(cuGraphLaunch(ready, rig.stream), kSuccess);
    ASSERT_EQ(rig.driver.stream_synchronize(rig.stream), kSuccess);
    EXPECT_EQ(rig.at(0), 7);
  }
  EXPECT_EQ(cuGraphDestroy(graph), kSuccess);
  EXPECT_EQ(cuGraphExecDestroy(ready), kSuccess);
}

TEST(FakeGraphs, AFunctionOfTheHostRunsInTheOrderOfItsStreamAndAtEachLaunch) {
  GraphRig rig;
  std::byte seen[2] = {};
  struct Call {
    const std::byte* from;
    std::byte* to;
  } call{rig.memory, seen};
  void (*const look)(void*) = [](void* argument) {
    Call& one = *static_cast<Call*>(argument);
    *one.to++ = *one.from;
  };
  Graph graph = nullptr, ready = nullptr;
  ASSERT_EQ(cuStreamBeginCapture_v2(rig.stream, CaptureMode::thread_local_), kSuccess);
  EXPECT_EQ(rig.fill(0, 7, rig.stream), kSuccess);
  EXPECT_EQ(cuLaunchHostFunc(rig.stream, look, &call), kSuccess);
  EXPECT_EQ(rig.fill(0, 9, rig.stream), kSuccess);
  ASSERT_EQ(cuStreamEndCapture(rig.stream, &graph), kSuccess);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&ready, graph, 0), kSuccess);
  for (int turn = 0; turn < 2; ++turn) ASSERT_EQ(cuGraphLaunch(ready, rig.stream), kSuccess);
  ASSERT_EQ(rig.driver.stream_synchronize(rig.stream), kSuccess);
  EXPECT_EQ(call.to, seen + 2);
  for (const std::byte one : seen) EXPECT_EQ(static_cast<int>(one), 7);
  EXPECT_EQ(cuLaunchHostFunc(rig.stream, nullptr, &call), kInvalidValue);
  EXPECT_EQ(cuGraphExecDestroy(ready), kSuccess);
  EXPECT_EQ(cuGraphDestroy(graph), kSuccess);
}

TEST(FakeGraphs, AStreamThatWaitsForAForkIsCapturedToo) {
  GraphRig rig;
  Graph graph = nullptr, ready = nullptr;
  Event fork = nullptr, join = nullptr;
  ASSERT_EQ(rig.driver.event_create(&fork, kEventWithoutTiming), kSuccess);
  ASSERT_EQ(rig.driver.event_create(&join, kEventWithoutTiming), kSuccess);
  ASSERT_EQ(cuStreamBeginCapture_v2(rig.stream, CaptureMode::relaxed), kSuccess);
  ASSERT_EQ(rig.driver.event_record(fork, rig.stream), kSuccess);
  ASSERT_EQ(rig.driver.stream_wait_event(rig.other, fork, 0), kSuccess);
  EXPECT_EQ(rig.fill(1, 3, rig.other), kSuccess);
  ASSERT_EQ(rig.driver.event_record(join, rig.other), kSuccess);
  ASSERT_EQ(rig.driver.stream_wait_event(rig.stream, join, 0), kSuccess);
  ASSERT_EQ(cuStreamEndCapture(rig.stream, &graph), kSuccess);
  EXPECT_EQ(rig.driver.stream_query(rig.other), kSuccess) << "it left the capture with its origin";
  EXPECT_EQ(rig.driver.stream_wait_event(rig.other, fork, 0), kInvalidValue) << "an event of a capture that is over";
  ASSERT_EQ(cuGraphInstantiateWithFlags(&ready, graph, 0), kSuccess);
  ASSERT_EQ(cuGraphLaunch(ready, rig.stream), kSuccess);
  ASSERT_EQ(rig.driver.stream_synchronize(rig.stream), kSuccess);
  EXPECT_EQ(rig.at(1), 3);
  EXPECT_EQ(cuGraphDestroy(graph), kSuccess);
  EXPECT_EQ(cuGraphExecDestroy(ready), kSuccess);
  rig.driver.event_destroy(fork);
  rig.driver.event_destroy(join);
}

std::atomic<int> destroyed{0};
std::atomic<int> refused{0};
void destroy_and_ask(void* driver) {
  int count = 0;
  refused = static_cast<const Driver*>(driver)->device_count(&count);
  ++destroyed;
}

TEST(FakeGraphs, UserObjectsLiveAsLongAsTheirGraphsAndLaunches) {
  GraphRig rig;
  destroyed = 0;
  Graph graph = nullptr, ready = nullptr;
  UserObject object = nullptr;
  Driver table = rig.driver;
  EXPECT_EQ(rig.driver.object_create(&object, &table, destroy_and_ask, 1, 0), kInvalidValue);
  ASSERT_EQ(rig.driver.object_create(&object, &table, destroy_and_ask, 1, kDestructorUnwatched), kSuccess);
  ASSERT_EQ(cuStreamBeginCapture_v2(rig.stream, CaptureMode::relaxed), kSuccess);
  EXPECT_EQ(rig.fill(0, 1, rig.stream), kSuccess);
  int status = 0;
  ASSERT_EQ(rig.driver.capture_info(rig.stream, &status, nullptr, &graph, nullptr, nullptr), kSuccess);
  ASSERT_EQ(rig.driver.graph_retain_object(graph, object, 1, kGraphTakesReference), kSuccess);
  ASSERT_EQ(cuStreamEndCapture(rig.stream, &graph), kSuccess);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&ready, graph, 0), kSuccess);
  EXPECT_EQ(cuGraphDestroy(graph), kSuccess);
  rig.fake.hold(true);
  ASSERT_EQ(cuGraphLaunch(ready, rig.stream), kSuccess);
  EXPECT_EQ(cuGraphExecDestroy(ready), kSuccess);
  EXPECT_EQ(rig.fake.leaks().find("1 user object"), 0u) << "the launch still runs: " << rig.fake.leaks();
  EXPECT_EQ(destroyed.load(), 0);
  rig.fake.hold(false);
  EXPECT_TRUE(comes_true([] { return destroyed.load() == 1; }));
  EXPECT_EQ(refused.load(), kNotPermitted) << "a destructor may not call the driver";
}

}  // namespace
}  // namespace railshmem::cuda
