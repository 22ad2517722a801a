// SPDX-License-Identifier: BSD-3-Clause
// What every fabric's rails must do. A technology says how its fabrics are made, and compiles the tests once:
//   struct Maker { using FabricType = ...; std::shared_ptr<FabricType> make(int pe) const; };
//   using MyRails = RailSuite<Maker>;
//   RAILSHMEM_RAIL_SUITE(MyRails);
//   INSTANTIATE_TEST_SUITE_P(Prefix, MyRails, testing::Values(Maker{...}, ...), names);
// make() throws railshmem::Error where this machine lacks the technology; the tests are then skipped with that reason.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "src/base/error.h"
#include "tests/support/rail_pair.h"

namespace railshmem::testing_support {

#define RAILSHMEM_RAIL_TESTS(TEST, Suite)         \
  TEST(Suite, CompletedWriteIsInTheTargetsMemory) \
  TEST(Suite, CompletedReadHasTheData)            \
  TEST(Suite, SmallWriteIsCopiedAtOnce)           \
  TEST(Suite, MessagesReachBothPorts)             \
  TEST(Suite, InjectedMessageNeedsNoSlot)         \
  TEST(Suite, MessagesAmongLongWritesAllArrive)   \
  TEST(Suite, TooLongMessageIsRefused)            \
  TEST(Suite, FloodGetsAgainAndThenDrains)        \
  TEST(Suite, BothRailsReachTheirOwnPe)           \
  TEST(Suite, MessageStaysBehindTheWriteBeforeIt) \
  TEST(Suite, WaitFdWakesForAMessage)

template <class Maker>
class RailSuite : public ::testing::TestWithParam<Maker> {
 public:
  using F = typename Maker::FabricType;
  using R = typename F::RailType;

 protected:
  void SetUp() override {
    try {
      two_pes = std::make_unique<RailPair<F>>([this](int pe) { return this->GetParam().make(pe); });
    } catch (const Error& reason) {
      GTEST_SKIP() << reason.what();
    }
  }
  void TearDown() override { two_pes.reset(); }

  Post write(Port port, uint64_t offset, const std::byte* local, size_t nbytes, OpSlot& slot) {
    return two_pes->rail(0, port).write({{1, SegmentId::heap, offset}, local, nbytes, &slot, false});
  }
  Post read(Port port, uint64_t offset, std::byte* local, size_t nbytes, OpSlot& slot) {
    return two_pes->rail(0, port).read({{1, SegmentId::heap, offset}, local, nbytes, &slot});
  }

#define RAILSHMEM_DECLARE(Suite, Name) void test_##Name();
  RAILSHMEM_RAIL_TESTS(RAILSHMEM_DECLARE, RailSuite)
#undef RAILSHMEM_DECLARE

  std::unique_ptr<RailPair<F>> two_pes;
};

inline constexpr size_t kSizes[] = {1,       2,    3,    7,     8,     9,      63,       64,
                                    65,      127,  128,  129,   255,   256,    257,      1000,
                                    4095,    4096, 4097, 16384, 65536, 100003, 1u << 20, (1u << 20) + 1,
                                    4u << 20};

template <class Maker>
void RailSuite<Maker>::test_CompletedWriteIsInTheTargetsMemory() {
  auto& pair = *this->two_pes;
  pair.start();
  OpSlot slot;
  size_t done = 0;
  for (Port port : {Port::host, Port::proxy}) {
    for (size_t nbytes : kSizes) {
      for (size_t shift : {0u, 1u, 5u}) {
        const auto seed = static_cast<unsigned>(nbytes + shift + static_cast<size_t>(port));
        std::byte* local = pair.heap(0) + 4096 + shift * 3;
        fill(local, nbytes, seed);
        std::byte* target = pair.heap(1) + 8192 + shift;
        target[-1] = target[nbytes] = std::byte{0x5a};
        pair.post([&] { return this->write(port, 8192 + shift, local, nbytes, slot); });
        pair.wait_completed(++done);
        ASSERT_EQ(first_wrong(target, nbytes, seed), nbytes) << nbytes << " B, shift " << shift;
        ASSERT_TRUE(target[-1] == std::byte{0x5a} && target[nbytes] == std::byte{0x5a}) << "wrote beside the range";
      }
    }
  }
}

template <class Maker>
void RailSuite<Maker>::test_CompletedReadHasTheData() {
  auto& pair = *this->two_pes;
  pair.start();
  OpSlot slot;
  size_t done = 0;
  for (Port port : {Port::host, Port::proxy}) {
    for (size_t nbytes : kSizes) {
      const auto seed = static_cast<unsigned>(nbytes + 7);
      fill(pair.heap(1) + 8193, nbytes, seed);
      std::byte* local = pair.heap(0) + 4099;
      local[-1] = local[nbytes] = std::byte{0x5a};
      pair.post([&] { return this->read(port, 8193, local, nbytes, slot); });
      pair.wait_completed(++done);
      ASSERT_EQ(first_wrong(local, nbytes, seed), nbytes) << nbytes << " B";
      ASSERT_TRUE(local[-1] == std::byte{0x5a} && local[nbytes] == std::byte{0x5a}) << "read beside the range";
    }
  }
}

template <class Maker>
void RailSuite<Maker>::test_SmallWriteIsCopiedAtOnce() {
  auto& pair = *this->two_pes;
  pair.start();
  const size_t nbytes = std::min<size_t>(pair.host(0).traits().inject, 4096);
  if (nbytes == 0) GTEST_SKIP() << "this rail copies no data when it posts (inject is 0)";
  std::vector<OpSlot> slots(64);
  std::vector<std::byte> local(nbytes);
  for (unsigned i = 0; i < slots.size(); ++i) {
    fill(local.data(), nbytes, i);
    pair.post([&] { return this->write(Port::host, i * 4096, local.data(), nbytes, slots[i]); });
    std::memset(local.data(), 0xee, nbytes);
  }
  pair.wait_completed(slots.size());
  for (unsigned i = 0; i < slots.size(); ++i) ASSERT_EQ(first_wrong(pair.heap(1) + i * 4096, nbytes, i), nbytes);
}

/// PE 1's proxy echoes every message to both endpoints of PE 0.
template <class Maker>
void RailSuite<Maker>::test_MessagesReachBothPorts() {
  auto& pair = *this->two_pes;
  const size_t largest = pair.proxy(0).traits().max_message;
  ASSERT_GE(largest, 4096u);
  struct Echo {
    std::vector<std::byte> bytes;  // stays untouched until the event, as the contract asks
    Port to;
    OpSlot slot;
  };
  std::deque<Echo> echoes;
  size_t next = 0;
  pair.start(
      [&](auto&, Port port, const RailEvent& message) {
        EXPECT_EQ(port, Port::proxy);
        for (Port to : {Port::proxy, Port::host})
          echoes.push_back({{message.bytes, message.bytes + message.nbytes}, to, {}});
      },
      [&] {
        if (next == echoes.size()) return;
        Echo& echo = echoes[next];
        const Post answer = pair.proxy(1).send({{0, echo.to}, echo.bytes.data(), echo.bytes.size(), &echo.slot});
        ASSERT_NE(answer, Post::failed);
        next += answer == Post::ok;
      });
  OpSlot slot;
  size_t sent = 0;
  for (Port from : {Port::host, Port::proxy}) {
    for (size_t nbytes : {size_t{1}, size_t{8}, size_t{64}, size_t{65}, size_t{300}, size_t{2000}, largest}) {
      std::vector<std::byte> bytes(nbytes);
      fill(bytes.data(), nbytes, static_cast<unsigned>(nbytes));
      size_t got[2] = {0, 0};
      const auto check = [&](auto&, Port port, const RailEvent& echo) {
        ASSERT_EQ(echo.nbytes, nbytes);
        ASSERT_EQ(first_wrong(echo.bytes, echo.nbytes, static_cast<unsigned>(nbytes)), nbytes);
        ++got[static_cast<size_t>(port)];
      };
      pair.post([&] { return pair.rail(0, from).send({{1, Port::proxy}, bytes.data(), nbytes, &slot}); }, check);
      ++sent;
      wait_for("echoes", [&] {
        pair.serve_mine(check);
        return got[0] == 1 && got[1] == 1 && pair.completed[0] == sent;
      });
    }
  }
  pair.stop();  // its thread reads `echoes`
}

template <class Maker>
void RailSuite<Maker>::test_InjectedMessageNeedsNoSlot() {
  auto& pair = *this->two_pes;
  std::atomic<size_t> got = 0;
  pair.start([&](auto&, Port, const RailEvent& message) {
    ASSERT_EQ(first_wrong(message.bytes, message.nbytes, 3), message.nbytes);
    got.fetch_add(1);
  });
  const size_t nbytes = std::min(pair.host(0).traits().inject, pair.host(0).traits().max_message);
  constexpr size_t kMessages = 2000;  // more than any pool of receive buffers
  for (size_t i = 0; i < kMessages; ++i) {
    std::vector<std::byte> bytes(nbytes);
    fill(bytes.data(), nbytes, 3);
    pair.post([&] { return pair.host(0).send({{1, Port::proxy}, bytes.data(), nbytes, nullptr}); });
  }
  wait_for("messages", [&] {
    pair.serve_mine();
    return got == kMessages;
  });
  EXPECT_EQ(pair.completed[0], 0u);
}

/// The target looks rarely, so that messages meet no buffer and writes no window. Nothing may be lost or end up
/// elsewhere.
template <class Maker>
void RailSuite<Maker>::test_MessagesAmongLongWritesAllArrive() {
  auto& pair = *this->two_pes;
  constexpr size_t kMessages = 4000;
  constexpr size_t kWrites = 16;
  constexpr size_t kLong = 500000;
  std::vector<uint8_t> seen(kMessages, 0);
  std::atomic<size_t> got = 0;
  pair.start(
      [&](auto&, Port, const RailEvent& message) {
        uint32_t number = 0;
        std::memcpy(&number, message.bytes, sizeof number);
        ASSERT_LT(number, kMessages);
        ++seen[number];
        got.fetch_add(1);
      },
      [turn = 0]() mutable {
        if (++turn % 32 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      });
  fill(pair.heap(0), kLong, 5);
  std::vector<OpSlot> slots(kMessages + kWrites);
  const size_t nbytes = std::min<size_t>({pair.host(0).traits().inject, pair.host(0).traits().max_message, 64});
  for (size_t i = 0; i < kMessages; ++i) {
    if (i % (kMessages / kWrites) == 0) {
      const size_t w = i / (kMessages / kWrites);
      pair.post([&] { return this->write(Port::host, w * kLong, pair.heap(0), kLong, slots[kMessages + w]); });
    }
    std::vector<std::byte> bytes(nbytes);
    const auto number = static_cast<uint32_t>(i);
    std::memcpy(bytes.data(), &number, sizeof number);
    OpSlot* slot = i % 2 == 0 ? &slots[i] : nullptr;
    pair.post([&] { return pair.host(0).send({{1, Port::proxy}, bytes.data(), nbytes, slot}); });
  }
  pair.wait_completed(kMessages / 2 + kWrites);
  wait_for("messages", [&] {
    pair.serve_mine();
    return got == kMessages;
  });
  pair.stop();  // its thread reads `seen`
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<long>(kMessages));
  for (size_t w = 0; w < kWrites; ++w) ASSERT_EQ(first_wrong(pair.heap(1) + w * kLong, kLong, 5), kLong) << w;
}

template <class Maker>
void RailSuite<Maker>::test_TooLongMessageIsRefused() {
  auto& pair = *this->two_pes;
  OpSlot slot;
  std::vector<std::byte> bytes(pair.host(0).traits().max_message + 1);
  EXPECT_EQ(pair.host(0).send({{1, Port::proxy}, bytes.data(), bytes.size(), &slot}), Post::failed);
  EXPECT_EQ(pair.host(0).last_error(), EINVAL);
}

template <class Maker>
void RailSuite<Maker>::test_FloodGetsAgainAndThenDrains() {
  auto& pair = *this->two_pes;
  pair.start();
  std::vector<OpSlot> slots(100000);
  OpSlot warm;
  pair.post([&] { return this->write(Port::host, 0, pair.heap(0), 8, warm); });
  pair.wait_completed(1);
  size_t posted = 0;
  for (; posted < slots.size(); ++posted) {
    const Post answer = this->write(Port::host, posted * 8, pair.heap(0) + posted * 8, 8, slots[posted]);
    ASSERT_NE(answer, Post::failed);
    if (answer == Post::again) break;
  }
  EXPECT_LT(posted, slots.size()) << "nothing limits the operations in flight";
  EXPECT_GT(posted, 0u);
  pair.wait_completed(1 + posted);
  // The rail is as good as new.
  pair.post([&] { return this->write(Port::host, 0, pair.heap(0), 8, warm); });
  pair.wait_completed(2 + posted);
}

template <class Maker>
void RailSuite<Maker>::test_BothRailsReachTheirOwnPe() {
  auto& pair = *this->two_pes;
  pair.start();
  OpSlot slot;
  size_t done = 0;
  for (Port port : {Port::host, Port::proxy}) {
    fill(pair.heap(0), 5000, 11);
    pair.post([&] {
      return pair.rail(0, port).write({{0, SegmentId::heap, 65536}, pair.heap(0), 5000, &slot, false});
    });
    pair.wait_completed(++done);
    EXPECT_EQ(first_wrong(pair.heap(0) + 65536, 5000, 11), 5000u);
    std::memset(pair.heap(0) + 65536, 0, 5000);
  }
}

template <class Maker>
void RailSuite<Maker>::test_MessageStaysBehindTheWriteBeforeIt() {
  auto& pair = *this->two_pes;
  if (!pair.host(0).traits().message_after_write)
    GTEST_SKIP() << "this rail does not promise that a message stays behind a write";
  std::atomic<unsigned> seen = 0;
  std::atomic<size_t> violations = 0;
  std::atomic<size_t> nbytes = 0;
  pair.start([&](auto&, Port, const RailEvent& message) {
    unsigned round = 0;
    std::memcpy(&round, message.bytes, sizeof round);
    violations += first_wrong(pair.heap(1), nbytes, round) != nbytes;
    seen.store(round, std::memory_order_release);
  });
  OpSlot slot;
  unsigned round = 0;
  size_t done = 0;
  for (Port port : {Port::host, Port::proxy}) {
    // 1000 tries per size in all; the large ones are few because each is checked byte by byte.
    for (const auto& [size, hundredths] : {std::pair<size_t, int>{8, 100},
                                           {64, 100},
                                           {200, 100},
                                           {4096, 100},
                                           {20000, 50},
                                           {131072, 10},
                                           {1u << 20, 2}}) {
      const int tries = hundredths * (port == Port::host ? 8 : 2);
      nbytes = size;
      for (int i = 0; i < tries; ++i) {
        fill(pair.heap(0), size, ++round);
        pair.post([&] { return this->write(port, 0, pair.heap(0), size, slot); });
        pair.post([&] {
          return pair.rail(0, port).send(
              {{1, Port::proxy}, reinterpret_cast<const std::byte*>(&round), sizeof round, nullptr});
        });
        ++done;
        wait_for("the message", [&] {
          pair.serve_mine();
          return seen.load(std::memory_order_acquire) == round && pair.completed[0] == done;
        });
      }
      EXPECT_EQ(violations, 0u) << size << " B";
    }
  }
}

template <class Maker>
void RailSuite<Maker>::test_WaitFdWakesForAMessage() {
  auto& pair = *this->two_pes;
  if (pair.proxy(0).wait_fd() < 0) GTEST_SKIP() << "this rail has no file descriptor to wait on";
  OpSlot slots[2];
  size_t requests = 0;
  size_t replies = 0;
  pair.start([&](auto&, Port, const RailEvent&) { ++requests; },
             [&] {
               if (replies == requests) return;
               // The second reply comes when PE 0 surely sleeps.
               if (replies == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
               static const std::byte reply[8] = {};
               replies += pair.proxy(1).send({{0, Port::proxy}, reply, sizeof reply, &slots[replies]}) == Post::ok;
             });
  const std::byte request[8] = {};
  for (int i = 0; i < 2; ++i) {
    int got = 0;
    const auto count = [&](auto&, Port, const RailEvent&) { ++got; };
    pair.post([&] { return pair.proxy(0).send({{1, Port::proxy}, request, sizeof request, nullptr}); }, count);
    const auto start = std::chrono::steady_clock::now();
    wait_for("the reply", [&] {
      pair.serve(0, Port::proxy, count);
      if (got == 0 && pair.proxy(0).may_sleep()) {
        pollfd fd{pair.proxy(0).wait_fd(), POLLIN, 0};
        EXPECT_GE(::poll(&fd, 1, 5000), 1) << "slept through the message";
      }
      return got == 1;
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  }
  pair.stop();  // its thread reads `requests`
}

#define RAILSHMEM_RAIL_TEST(Suite, Name) \
  TEST_P(Suite, Name) {                  \
    this->test_##Name();                 \
  }
#define RAILSHMEM_RAIL_SUITE(Suite) RAILSHMEM_RAIL_TESTS(RAILSHMEM_RAIL_TEST, Suite)

}  // namespace railshmem::testing_support
