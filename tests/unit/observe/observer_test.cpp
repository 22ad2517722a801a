// SPDX-License-Identifier: BSD-3-Clause
#include "src/observe/observer.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "src/observe/report.h"

namespace railshmem::observe {
namespace {

/// A file in a folder of the test's own.
class Observation : public testing::Test {
 protected:
  Observation() {
    char name[] = "/tmp/railshmem_observe_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Observation() override { [[maybe_unused]] const int status = std::system(("rm -r " + folder_).c_str()); }

  std::string file() const { return folder_ + "/timeline.json"; }
  static std::string read(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  static size_t count(const std::string& text, const std::string& what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  }
  std::string folder_;
};

Event event(uint64_t began, uint64_t ended, const char* name = "shmem_put") {
  return {began, ended, name, "put", 8, 1};
}

TEST(Counters, KeepExtremesAndSums) {
  Counters counters;
  counters.count(Kind::put, Way::node, 8, 10);
  counters.count(Kind::put, Way::node, 64, 20);
  counters.count(Kind::put, Way::network, 1, 5);
  Totals totals = counters.totals();
  totals.add(counters.totals());
  const Sum& node = totals.calls[static_cast<size_t>(Kind::put)][static_cast<size_t>(Way::node)];
  EXPECT_EQ(node.calls, 4u);
  EXPECT_EQ(node.nbytes, 144u);
  EXPECT_EQ(node.min, 8u);
  EXPECT_EQ(node.max, 64u);
  EXPECT_EQ(node.ticks, 60u);
  EXPECT_EQ(totals.calls[static_cast<size_t>(Kind::get)][0].calls, 0u);
}

TEST(Counters, ReaderDisturbsNobody) {
  Counters counters;
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop.load()) EXPECT_LE(counters.totals().calls[0][0].calls, 100000u);
  });
  for (int i = 0; i < 100000; ++i) counters.count(Kind::put, Way::node, 8, 1);
  stop.store(true);
  reader.join();
  EXPECT_EQ(counters.totals().calls[0][0].calls, 100000u);
}

TEST(Report, HasARowForEachKindThatOccurred) {
  Counters counters;
  counters.count(Kind::get, Way::network, 100, 3);
  counters.count(Kind::get, Way::network, 300, 3);
  counters.count(Engine::posted, 7);
  const std::vector<std::string> rows = stats_rows(5, counters.totals());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_NE(rows[0].find("get"), std::string::npos);
  EXPECT_NE(rows[0].find("network"), std::string::npos);
  EXPECT_NE(rows[0].find("200.0"), std::string::npos) << rows[0];
  EXPECT_NE(rows[1].find("7 operations posted"), std::string::npos);
  EXPECT_EQ(rows[0].size(), stats_heading().size());
  counters.count(Engine::copies, 4);
  counters.count(Engine::copied_bytes, 400);
  counters.count(Engine::copying_ticks, 10'000);  // nanoseconds, as after Observer::finish()
  const std::vector<std::string> staged = stats_rows(5, counters.totals());
  ASSERT_EQ(staged.size(), 3u);
  EXPECT_NE(staged[2].find("4 copies (400 bytes), seen to be over after 2.5 us"), std::string::npos) << staged[2];
}

TEST(TraceClock, GivesMonotonicNanoseconds) {
  for (const bool cycles : {false, true}) {
    Clock clock(cycles);
    const uint64_t before = now_ns();
    const uint64_t ticks = clock.ticks();
    const uint64_t after = now_ns();
    clock.calibrate();
    constexpr uint64_t kSlack = 20000;  // a virtual machine may be interrupted within the two readings
    EXPECT_GE(clock.ns(ticks) + kSlack, before);
    EXPECT_LE(clock.ns(ticks), after + kSlack);
  }
}

TEST_F(Observation, SpoolReturnsBatchesInOrderAndRefusesBeyondItsLimit) {
  Spool spool(file(), 2 * (8 + 3 * sizeof(Event)));
  const Event batch[] = {event(1, 2), event(3, 4), event(5, 6)};
  EXPECT_TRUE(spool.append(0, batch));
  EXPECT_TRUE(spool.append(7, batch));
  EXPECT_FALSE(spool.append(0, batch));
  std::vector<int> threads;
  spool.read([&](int thread, std::span<const Event> events) {
    threads.push_back(thread);
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[2].began, 5u);
  });
  EXPECT_EQ(threads, (std::vector<int>{0, 7}));
  EXPECT_EQ(file_size(file()), 0u) << "the spool has no name";
}

TEST_F(Observation, SpoolNamesTheFolderThatIsMissing) {
  EXPECT_THROW(Spool("/nonexistent_folder/timeline.json", 1000), std::exception);
}

TEST(Json, EscapesWhatWouldEndTheText) {
  EXPECT_EQ(json_escape("a\"b\\c\n"), "a\\\"b\\\\c\\u000a");
}

TEST_F(Observation, PartsAreJoinedByTheirBodies) {
  Clock clock(false);  // ticks are nanoseconds
  const Event events[] = {event(1000, 2500), event(3000, 3001)};
  std::vector<PartInfo> parts;
  for (int pe = 0; pe < 2; ++pe) {
    TimelineWriter part(file() + std::to_string(pe), pe, clock);
    part.write(0, events);
    parts.push_back(part.finish(4, 1));
    EXPECT_EQ(parts.back().nbytes, file_size(file() + std::to_string(pe)));
  }
  TimelineWriter whole(file(), 0, clock);
  for (int pe = 0; pe < 2; ++pe) whole.append_part(file() + std::to_string(pe), parts[static_cast<size_t>(pe)]);
  whole.finish(8, 2);
  const std::string text = read(file());
  EXPECT_EQ(count(text, "\"ph\":\"X\""), 4u);
  EXPECT_EQ(count(text, "\"ts\":1.000,\"dur\":1.500"), 2u) << text;
  EXPECT_EQ(count(text, "\"pid\":1"), 2u);
  EXPECT_EQ(count(text, "\"pes\":2,\"events\":4,\"dropped\":8"), 1u);
  EXPECT_EQ(count(text, "\"timeline\""), 1u) << "parts leave their own last event behind";
}

TEST_F(Observation, ManyThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 20000;  // more than a buffer holds
  Observer observer({.pe = 3, .stats = true, .trace = file()});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i) {
        observer.begin(Kind::put, Way::node, "shmem_put", 8, 1);
        observer.end();
      }
    });
  for (std::thread& thread : threads) thread.join();
  const Totals totals = observer.finish();
  EXPECT_EQ(totals.calls[0][0].calls, static_cast<uint64_t>(kThreads) * kCalls);
  EXPECT_EQ(totals.calls[0][0].nbytes, static_cast<uint64_t>(kThreads) * kCalls * 8);
  const PartInfo part = observer.write_part(observer.part_path());
  EXPECT_EQ(part.events, static_cast<uint64_t>(kThreads) * kCalls);
  EXPECT_EQ(part.dropped, 0u);
}

TEST_F(Observation, AThreadTakesOverTheLogOfOneThatEnded) {
  constexpr int kThreads = 300;
  constexpr int kCalls = 100;
  Observer observer({.stats = true, .trace = file()});
  for (int t = 0; t < kThreads; ++t)
    std::thread([&] {
      for (int i = 0; i < kCalls; ++i) {
        observer.begin(Kind::put, Way::node, "shmem_put", 8, 1);
        observer.end();
      }
    }).join();
  EXPECT_EQ(observer.finish().calls[0][0].calls, static_cast<uint64_t>(kThreads) * kCalls);
  EXPECT_EQ(observer.write_part(observer.part_path()).events, static_cast<uint64_t>(kThreads) * kCalls);
  EXPECT_EQ(count(read(observer.part_path()), "thread_name"), 2u) << "memory is kept for each thread that ever ran";
}

TEST_F(Observation, AThreadMayOutliveItsObserver) {
  std::atomic<int> step{0};
  auto observer = std::make_unique<Observer>(Settings{.stats = true});
  std::thread thread([&] {
    observer->begin(Kind::put, Way::node, "shmem_put", 8, 1);
    observer->end();
    step = 1;
    while (step != 2) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  observer.reset();
  step = 2;
  thread.join();
}

TEST_F(Observation, WhatDoesNotFitIsCounted) {
  constexpr uint64_t kCalls = 50000;
  Observer observer({.trace = file(), .trace_limit = 500000});
  for (uint64_t i = 0; i < kCalls; ++i) {
    observer.begin(Kind::get, Way::none, "shmem_get", 8, -1);
    observer.end();
  }
  observer.finish();
  const PartInfo part = observer.write_part(observer.part_path());
  EXPECT_GT(part.dropped, 0u);
  EXPECT_EQ(part.events + part.dropped, kCalls);
}

TEST_F(Observation, CallsInsideACallAreNotCalls) {
  Observer observer({.stats = true});
  observer.begin(Kind::collective, Way::none, "outer", 1, -1);
  observer.begin(Kind::put, Way::node, "inner", 2, 0);
  observer.end();
  observer.end();
  const Totals totals = observer.finish();
  EXPECT_EQ(totals.calls[static_cast<size_t>(Kind::put)][0].calls, 0u);
  EXPECT_EQ(totals.calls[static_cast<size_t>(Kind::collective)][static_cast<size_t>(Way::none)].calls, 1u);
}

/// A job may end while its threads record: what is written then is whole, only not all.
TEST_F(Observation, APartCanBeWrittenWhileThreadsRecord) {
  Observer observer({.trace = file(), .trace_limit = size_t{2} << 20});
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    while (!stop.load()) {
      observer.begin(Kind::put, Way::node, "shmem_put", 8, 1);
      observer.end();
    }
  });
  for (int i = 0; i < 20; ++i) observer.write_part(observer.part_path());
  stop.store(true);
  thread.join();
  const PartInfo part = observer.write_part(observer.part_path());
  EXPECT_EQ(count(read(observer.part_path()), "\"ph\":\"X\""), part.events);
}

}  // namespace
}  // namespace railshmem::observe
