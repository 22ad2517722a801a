// SPDX-License-Identifier: BSD-3-Clause
#include "transports/loopback/fabric.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstring>

#include "src/base/error.h"

namespace railshmem::loopback {
namespace {

const Env kDefaults = Env::parse([](const char*) -> const char* { return nullptr; });

bool readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

struct Pair {
  explicit Pair(const Options& options = {}) {
    for (int pe = 0; pe < 2; ++pe) {
      fabrics[pe].emplace(NetworkConfig{&kDefaults, pe, 2, false, false}, options);
      const Segment segment{SegmentId::heap, reinterpret_cast<std::byte*>(memory[pe].data()), sizeof memory[pe]};
      descriptors.push_back(fabrics[pe]->attach({&segment, 1}));
    }
    for (auto& fabric : fabrics) fabric->connect(descriptors);
  }
  std::array<std::array<uint64_t, 8>, 2> memory{};
  std::array<std::optional<Fabric>, 2> fabrics;
  std::vector<std::vector<std::byte>> descriptors;
};

TEST(Loopback, PeerOfAnotherProcessIsRefused) {
  Pair pair;
  Fabric late(NetworkConfig{&kDefaults, 0, 2, false, false});
  const auto mine = late.attach({});
  auto descriptors = pair.descriptors;
  int32_t process = 1;
  std::memcpy(descriptors[1].data() + 16, &process, sizeof process);
  try {
    late.connect(descriptors);
    FAIL() << "connected to process 1";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("PE 1 is in process 1 on "), std::string::npos) << e.what();
  }
  Fabric other(NetworkConfig{&kDefaults, 0, 2, false, false});
  EXPECT_THROW(other.connect(std::vector<std::vector<std::byte>>(2)), Error);
}

TEST(Loopback, TwoJobsDoNotMeet) {
  Pair one, two;
  uint64_t value = 5;
  OpSlot slot;
  ASSERT_EQ(one.fabrics[0]->rails(Port::host)[0].write(
                {{1, SegmentId::heap, 0}, reinterpret_cast<std::byte*>(&value), 8, &slot, false}),
            Post::ok);
  EXPECT_EQ(one.memory[1][0], 5u);
  EXPECT_EQ(two.memory[1][0], 0u);
}

TEST(Loopback, FullMailboxAnswersAgainUntilReleased) {
  Pair pair({.depth = 4});
  auto& sender = pair.fabrics[0]->rails(Port::host)[0];
  auto& receiver = pair.fabrics[1]->rails(Port::proxy)[0];
  const std::byte byte{9};
  const RailSend send{{1, Port::proxy}, &byte, 1, nullptr};
  for (int i = 0; i < 4; ++i) ASSERT_EQ(sender.send(send), Post::ok);
  EXPECT_EQ(sender.send(send), Post::again);
  std::array<RailEvent, 8> events;
  ASSERT_EQ(receiver.poll(events), 4u);
  EXPECT_EQ(sender.send(send), Post::again) << "polled, but the bytes are still in use";
  receiver.release(events[2]);
  EXPECT_EQ(sender.send(send), Post::ok);
}

TEST(Loopback, WaitObjectTellsOfMessages) {
  Pair pair;
  auto& receiver = pair.fabrics[1]->rails(Port::proxy)[0];
  const std::byte byte{9};
  const RailSend send{{1, Port::proxy}, &byte, 1, nullptr};
  std::array<RailEvent, 8> events;
  EXPECT_TRUE(receiver.may_sleep());
  EXPECT_FALSE(readable(receiver.wait_fd()));
  ASSERT_EQ(pair.fabrics[0]->rails(Port::host)[0].send(send), Post::ok);
  EXPECT_TRUE(readable(receiver.wait_fd()));
  EXPECT_FALSE(receiver.may_sleep());
  ASSERT_EQ(receiver.poll(events), 1u);
  receiver.release(events[0]);
  EXPECT_TRUE(receiver.may_sleep());
  EXPECT_FALSE(readable(receiver.wait_fd()));
}

TEST(Loopback, BadRangeFailsWithAReason) {
  Pair pair;
  auto& rail = pair.fabrics[0]->rails(Port::host)[0];
  uint64_t value = 5;
  OpSlot slot;
  EXPECT_EQ(rail.write({{1, SegmentId::heap, 60}, reinterpret_cast<std::byte*>(&value), 8, &slot, false}),
            Post::failed);
  EXPECT_EQ(rail.last_error(), EACCES);
  EXPECT_EQ(rail.read({{1, SegmentId::data, 0}, reinterpret_cast<std::byte*>(&value), 8, &slot}), Post::failed);
}

TEST(Loopback, CompletionRingAnswersAgainWhenFull) {
  Pair pair({.depth = 2});
  auto& rail = pair.fabrics[0]->rails(Port::host)[0];
  uint64_t value = 5;
  OpSlot slot;
  const RailWrite write{{1, SegmentId::heap, 0}, reinterpret_cast<std::byte*>(&value), 8, &slot, false};
  EXPECT_EQ(rail.write(write), Post::ok);
  EXPECT_EQ(rail.write(write), Post::ok);
  EXPECT_EQ(rail.write(write), Post::again);
  std::array<RailEvent, 8> events;
  EXPECT_EQ(rail.poll(events), 2u);
  EXPECT_EQ(rail.write(write), Post::ok);
}

}  // namespace
}  // namespace railshmem::loopback
