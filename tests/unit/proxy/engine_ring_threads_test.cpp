// SPDX-License-Identifier: BSD-3-Clause
// Several proxy threads in each PE: rings that different threads drive carry everything once and in order, also while
// rails die, and a quiet of all rings covers what any of the threads carries.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "include/shmem/device/wait.h"
#include "tests/support/cabled_engine.h"
#include "tests/support/late_copier.h"
#include "tests/support/patience.h"
#include "tests/support/tickets.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test::ring_threads {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Plain = loopback::Fabric;

constexpr int kPes = 2;
constexpr int kBlocks = 3;  ///< of the kernel of each PE
constexpr size_t kRings = 4;
constexpr size_t kPart = 20000;
constexpr size_t kSizes[] = {8, 100, 3000, 9000, kPart};

// Where things are in every heap.
constexpr size_t flag_at(int block) {
  return 8 * static_cast<size_t>(block);
}
constexpr size_t ack_at(int block) {
  return 256 + 8 * static_cast<size_t>(block);
}
constexpr size_t kAdded = 512, kTickets = 520;
constexpr size_t data_at(int block, int part) {
  return 65536 * static_cast<size_t>(1 + 2 * block + part);
}
size_t size_of(uint64_t message) {
  return kSizes[message * 7 % std::size(kSizes)];
}

void three_threads(Env& env) {
  env.proxy_threads = 3;
}

constexpr Setup<Plain> kPlain{"Plain", [](const NetworkConfig& config, const Tuning& tuning) {
                                return std::make_unique<Engine<Plain>>(TransportKind::loopback, config, tuning, config,
                                                                       loopback::Options{});
                              }};
constexpr Setup<Plain> kStaged{
    "Staged", kPlain.make, [](uint64_t seed) -> std::unique_ptr<Copier> { return std::make_unique<LateCopier>(seed); }};

/// The rings of a PE's kernel. They outlive the job.
struct Rings {
  Rings() {
    for (size_t i = 0; i < kRings; ++i) {
      channels.push_back(std::make_unique<Channel>(6));
      pointers.push_back(channels.back().get());
      views.push_back(channels.back()->view());
      views.back().ring.doorbell = nullptr;
    }
  }
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<Channel*> pointers;
  std::vector<ChannelView> views;
};

/// What the blocks of all PEs have in common.
struct Course {
  std::atomic<uint64_t> sent{0};  ///< messages
  std::atomic<bool> stop{false};  ///< no further ones
  std::atomic<int> finished{0};   ///< blocks that know that theirs have arrived
  std::atomic<bool> broken{false};
};

/// One block of the kernel of one PE, and what it finds wrong. It talks to the other PE's block of this number.
template <class F>
class Block {
 public:
  Block(EngineJob<F>& job, Rings& rings, int pe, int block, uint64_t seed)
      : job_(job), rings_(rings), pe_(pe), block_(block), random_(seed) {}

  void run(Course& course) {
    bool counted = false;
    Clock::time_point deadline = Clock::now() + kPatience;
    while (course.finished.load() < kPes * kBlocks && !course.broken.load()) {
      const bool stops = course.stop.load();
      if (!stops) {
        if (produce()) course.sent.fetch_add(1);
        if (random(4) == 0) count_at_peers();
      }
      if (consume()) deadline = Clock::now() + kPatience;
      if (stops && !counted && job_.load(pe_, ack_at(block_)) == messages_) {
        counted = true;
        course.finished.fetch_add(1);
      }
      if (Clock::now() > deadline) ++wrong;  // something was lost
      if (wrong > 0) course.broken.store(true);
      std::this_thread::yield();
    }
    quiet_all();
  }

  uint64_t wrong = 0;
  uint64_t added = 0;
  std::vector<uint64_t> tickets;

 private:
  static constexpr uint64_t kPatienceNs = std::chrono::nanoseconds(kPatience).count();
  enum class Way : uint8_t { put_signal, fenced_word, fenced_amo, over_all_rings };

  uint64_t random(uint64_t n) { return random_() % n; }
  size_t mine() const { return static_cast<size_t>(block_) % kRings; }
  uint32_t peer() const { return static_cast<uint32_t>(1 - pe_); }
  /// A function of the message, which its reader knows.
  static Way way_of(uint64_t message) { return static_cast<Way>(message * 0x9e3779b97f4a7c15u >> 62); }
  static std::vector<std::byte> content(int pe, int block, uint64_t message, int part) {
    return filled(pe * 8 + block * 2 + part, message, size_of(message));
  }

  void push(size_t ring, const Command& command) {
    const auto pushed = device::push(rings_.views[ring].ring, command, device::Deadline::in(kPatienceNs));
    if (pushed.status != ChannelStatus::ok) ++wrong;
  }
  void quiet(size_t ring) {
    if (device::quiet(rings_.views[ring], device::Deadline::in(kPatienceNs)) != ChannelStatus::ok) ++wrong;
  }
  void quiet_all() {
    for (size_t ring = 0; ring < kRings; ++ring) quiet(ring);
  }
  Command put(int part) {
    return {.op = CommandOp::put,
            .pe = peer(),
            .nbytes = sources_[part].size(),
            .remote_offset = data_at(block_, part),
            .local = reinterpret_cast<uint64_t>(sources_[part].data())};
  }
  static Command word(uint32_t pe, size_t offset, uint64_t value) {
    return {.op = CommandOp::put_inline, .pe = pe, .nbytes = 8, .remote_offset = offset, .value = value};
  }
  static Command amo(AmoOp op, uint32_t pe, size_t offset, uint64_t value, uint64_t* fetch = nullptr) {
    return {.op = CommandOp::amo,
            .amo_op = op,
            .pe = pe,
            .nbytes = 8,
            .remote_offset = offset,
            .local = reinterpret_cast<uint64_t>(fetch),
            .value = value};
  }

  /// Sends the next message if the last one was read.
  bool produce() {
    if (job_.load(pe_, ack_at(block_)) != messages_) return false;
    quiet_all();  // sources are free
    send(++messages_);
    return true;
  }
  void send(uint64_t message) {
    for (int part = 0; part < 2; ++part) sources_[part] = content(pe_, block_, message, part);
    Command first = put(0);
    switch (way_of(message)) {
      case Way::put_signal:
        first.op = CommandOp::put_signal;
        first.signal_offset = flag_at(block_);
        first.signal_value = message;
        return push(mine(), first);
      case Way::fenced_word:
        push(mine(), first);
        push(mine(), {.op = CommandOp::fence, .pe = kEveryPe});
        return push(mine(), word(peer(), flag_at(block_), message));
      case Way::fenced_amo:
        push(mine(), first);
        push(mine(), {.op = CommandOp::fence, .pe = kEveryPe});
        return push(mine(), amo(AmoOp::set, peer(), flag_at(block_), message));
      case Way::over_all_rings:
        push(random(kRings), first);
        push(random(kRings), put(1));
        quiet_all();
        return push(random(kRings), amo(AmoOp::set, peer(), flag_at(block_), message));
    }
  }

  /// True when a message has come.
  bool consume() {
    const uint64_t flag = job_.load(pe_, flag_at(block_));
    if (flag == got_) return false;
    if (flag != got_ + 1) ++wrong;
    got_ = flag;
    compare(0);
    if (way_of(got_) == Way::over_all_rings) compare(1);
    push(mine(), word(peer(), ack_at(block_), got_));
    return true;
  }
  void compare(int part) {
    const std::vector<std::byte> expected = content(1 - pe_, block_, got_, part);
    if (std::memcmp(job_.base(pe_) + data_at(block_, part), expected.data(), expected.size()) != 0) ++wrong;
  }

  /// All blocks of all PEs add to two words, through whichever ring.
  void count_at_peers() {
    const size_t ring = random(kRings);
    if (random(4) != 0) {
      push(ring, amo(AmoOp::add, 1, kAdded, 1));
      ++added;
      return;
    }
    uint64_t ticket = ~uint64_t{0};
    push(ring, amo(AmoOp::fetch_add, 0, kTickets, 1, &ticket));
    quiet(ring);
    tickets.push_back(ticket);
  }

  EngineJob<F>& job_;
  Rings& rings_;
  const int pe_;
  const int block_;
  std::mt19937_64 random_;
  std::vector<std::byte> sources_[2];
  uint64_t messages_ = 0;
  uint64_t got_ = 0;
};

struct Result {
  uint64_t wrong = 0;
  std::set<std::string> ports_used;
};

/// Runs the kernels until `meanwhile(course)` returns.
template <class F, class Meanwhile>
Result run(const Setup<F>& setup, const Tuning& tuning, Meanwhile&& meanwhile) {
  std::vector<Rings> rings(kPes);
  EngineJob<F> job(setup, {.npes = kPes, .tuning = tuning, .change = three_threads});
  for (int pe = 0; pe < kPes; ++pe) job.engine(pe).add_channels(rings[static_cast<size_t>(pe)].pointers);
  std::vector<std::unique_ptr<Block<F>>> blocks;
  for (int pe = 0; pe < kPes; ++pe)
    for (int block = 0; block < kBlocks; ++block)
      blocks.push_back(std::make_unique<Block<F>>(job, rings[static_cast<size_t>(pe)], pe, block,
                                                  static_cast<uint64_t>(pe * kBlocks + block)));
  Course course;
  {
    std::vector<std::jthread> threads;
    for (auto& block : blocks) threads.emplace_back([&] { block->run(course); });
    meanwhile(course);
    course.stop.store(true);
  }
  Result result;
  uint64_t added = 0;
  std::vector<uint64_t> tickets;
  for (const auto& block : blocks) {
    result.wrong += block->wrong;
    added += block->added;
    tickets.insert(tickets.end(), block->tickets.begin(), block->tickets.end());
  }
  EXPECT_EQ(job.load(1, kAdded), added) << "additions happened twice, or never";
  EXPECT_EQ(job.load(0, kTickets), tickets.size());
  expect_each_once(tickets);
  for (int pe = 0; pe < kPes; ++pe) job.engine(pe).prepare_stop();
  for (int pe = 0; pe < kPes; ++pe) job.engine(pe).stop();
  for (const std::string& row : job.engine(0).rail_rows())
    result.ports_used.insert(row.substr(row.find('(') + 1, row.find(')') - row.find('(') - 1));
  std::printf("%llu messages, %zu tickets\n", static_cast<unsigned long long>(course.sent.load()), tickets.size());
  return result;
}

void expect_all_right(const Result& result) {
  EXPECT_EQ(result.wrong, 0u);
  for (const char* port : {"proxy", "proxy 1", "proxy 2"}) EXPECT_TRUE(result.ports_used.contains(port)) << port;
}

template <uint64_t messages>
void until_sent(const Course& course) {
  while (course.sent.load() < messages && !course.broken.load()) std::this_thread::sleep_for(1ms);
}

TEST(EngineRingThreads, CarryEverythingOnceAndInOrder) {
  expect_all_right(run(kPlain, Tuning{}, until_sent<200>));
}

TEST(EngineRingThreads, StageThroughPartsOfTheirOwn) {
  expect_all_right(run(kStaged, Tuning{}, until_sent<100>));
}

struct Case {
  const char* name;
  size_t rails;
  CableOptions options;
};
class EngineRingThreadsFailover : public testing::TestWithParam<Case> {};

// At any time one rail at least is whole from end to end.
TEST_P(EngineRingThreadsFailover, CarryEverythingOnceWhileCablesArePulled) {
  const size_t rails = GetParam().rails;
  Cables cables(kPes, rails);
  const auto pull_and_plug = [&](const Course& course) {
    std::mt19937_64 random(1);
    for (int pulls = 0; (pulls < 8 || course.sent.load() < 50) && !course.broken.load(); ++pulls) {
      const int pe = static_cast<int>(random() % kPes);
      const size_t r = random() % rails;
      cables.pull(pe, r);
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 150));
      cables.plug(pe, r);
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
    }
  };
  expect_all_right(run(cabled_with(cables, GetParam().options), hasty(), pull_and_plug));
}

INSTANTIATE_TEST_SUITE_P(Cables, EngineRingThreadsFailover,
                         testing::Values(Case{"2", 2, {}},
                                         Case{"2FailingUnordered", 2, {.message_after_write = false, .patience = 30ms}},
                                         Case{"3TellingLinks", 3, {.tells_link = true}}),
                         [](const auto& of) { return of.param.name; });

TEST(EngineRingThreads, AllOfThemRunATask) {
  EngineJob<Plain> job(kPlain, {.change = three_threads});
  std::vector<std::string> names;
  job.engine(0).run_on_proxies([&] {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    names.emplace_back(name);
  });
  EXPECT_EQ(names, (std::vector<std::string>{"railshmem-proxy", "railshmem-prox1", "railshmem-prox2"}));
}

std::string refusal_of(void (*change)(Env&)) {
  try {
    EngineJob<Plain> job(kPlain, {.change = change});
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(EngineRingThreads, TooManyAreRefused) {
  EXPECT_NE(refusal_of([](Env& env) { env.proxy_threads = 0; }).find("SHMEM_PROXY_THREADS is 0; 1 to 8"),
            std::string::npos);
  EXPECT_NE(refusal_of([](Env& env) { env.proxy_threads = 9; }).find("SHMEM_PROXY_THREADS is 9; 1 to 8"),
            std::string::npos);
  const std::string rings = refusal_of([](Env& env) {
    env.proxy_threads = 4;
    env.device_rings = 3;
  });
  EXPECT_NE(rings.find("SHMEM_PROXY_THREADS is 4 and SHMEM_DEVICE_RINGS 3"), std::string::npos) << rings;
}

TEST(EngineRingThreads, PesThatHaveNotAsManyAreTold) {
  std::vector<std::unique_ptr<Engine<Plain>>> engines;
  std::vector<std::vector<std::byte>> descriptors;
  std::vector<Env> envs(2, Env::parse([](const char*) -> const char* { return nullptr; }));
  envs[1].proxy_threads = 2;
  std::vector<uint64_t> heap(64);
  const Segment segment{SegmentId::heap, reinterpret_cast<std::byte*>(heap.data()), 8 * heap.size()};
  for (int pe = 0; pe < 2; ++pe) {
    engines.push_back(kPlain.make({&envs[static_cast<size_t>(pe)], pe, 2, false}, Tuning{}));
    descriptors.push_back(engines.back()->attach({&segment, 1}));
  }
  try {
    engines[0]->connect(descriptors);
    FAIL() << "connected";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("PE 1 has 2 proxy threads where this PE has 1: set SHMEM_PROXY_THREADS"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace railshmem::test::ring_threads
