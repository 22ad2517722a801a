// SPDX-License-Identifier: BSD-3-Clause
// Payload slots between producers that store into them and a proxy that hands them back late and in any order.
#include "src/channel/payloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "include/shmem/device/payload.h"
#include "src/channel/channel.h"
#include "tests/support/payload_room.h"
#include "tests/support/repetitions.h"

namespace railshmem {
namespace {

TEST(Payloads, SlotsDoNotOverlapAndBeginAtCacheLines) {
  PayloadRoom room(2);
  uint64_t freed[kPayloadSizes] = {};
  const Payloads payloads(room.memory(), freed);
  std::vector<std::pair<std::byte*, uint64_t>> slots;
  for (uint64_t i = 0; i < kSmallPayloads; ++i)
    slots.emplace_back(payloads.data(payload_name(PayloadSize::small, i), 0, 1), kSmallPayload + kPayloadAlign);
  for (uint64_t i = 0; i < 4; ++i)
    slots.emplace_back(payloads.data(payload_name(PayloadSize::large, i), 0, 1), kLargePayload + kPayloadAlign);
  std::byte* end = room.bytes.data();
  for (const auto& [at, nbytes] : slots) {
    ASSERT_GE(at, end);
    EXPECT_EQ((at - room.bytes.data()) % 64, 0);
    end = at + nbytes;
  }
  for (uint64_t i = 0; i < kGetSlots; ++i) {
    std::byte* const at = payloads.get_place(i, 0, kLargePayload);
    ASSERT_GE(at, end);
    EXPECT_EQ((at - room.bytes.data()) % 64, 0);
    end = at + kLargePayload + kPayloadAlign;
  }
  EXPECT_LE(end, room.bytes.data() + room.bytes.size());
}

TEST(Payloads, WhatDoesNotExistHasNoData) {
  PayloadRoom room(1);
  uint64_t freed[kPayloadSizes] = {};
  const Payloads payloads(room.memory(), freed);
  EXPECT_NE(payloads.data(payload_name(PayloadSize::large, 1), 15, kLargePayload), nullptr);
  EXPECT_EQ(payloads.data(payload_name(PayloadSize::large, 2), 0, 1), nullptr);
  EXPECT_EQ(payloads.data(payload_name(PayloadSize::large, 1), 16, 1), nullptr);
  EXPECT_EQ(payloads.data(payload_name(PayloadSize::large, 1), 0, kLargePayload + 1), nullptr);
  EXPECT_EQ(payloads.data(payload_name(PayloadSize::large, 0), 0, 2 * kLargePayload + 1), nullptr);
  EXPECT_EQ(payloads.data(payload_name(PayloadSize::large, 0), 0, 0), nullptr);
  EXPECT_EQ(payloads.data(payload_name(PayloadSize::small, kSmallPayloads - 1), 0, kSmallPayload + 1), nullptr);
  EXPECT_EQ(payloads.data(~uint64_t{0}, 0, 1), nullptr);
  EXPECT_NE(payloads.get_place(kGetSlots - 1, 15, kLargePayload), nullptr);
  EXPECT_EQ(payloads.get_place(kGetSlots, 0, 1), nullptr);
  EXPECT_EQ(payloads.get_place(0, 16, 1), nullptr);
  EXPECT_EQ(payloads.get_place(0, 0, kLargePayload + 1), nullptr);
  EXPECT_EQ(payloads.get_place(0, 0, 0), nullptr);
}

TEST(Payloads, ASlotInUseHoldsBackThoseTakenAfterIt) {
  PayloadRoom room(1);
  uint64_t freed[kPayloadSizes] = {};
  Payloads payloads(room.memory(), freed);
  const auto free = [&](uint64_t number) {
    payloads.free(Payloads::hold_of(payload_name(PayloadSize::large, number), kLargePayload));
    payloads.publish();
    return freed[1];
  };
  EXPECT_EQ(free(1), 0u);
  EXPECT_EQ(free(0), 2u);
  for (uint64_t lap = 1; lap < 100; ++lap) {
    EXPECT_EQ(free(0), 2 * lap + 1);
    EXPECT_EQ(free(1), 2 * lap + 2);
  }
  EXPECT_EQ(freed[0], 0u);
}

TEST(Payloads, ACommandsSlotsAreOnePieceOfMemoryAndComeBackTogether) {
  PayloadRoom room(2);
  uint64_t freed[kPayloadSizes] = {};
  Payloads payloads(room.memory(), freed);
  const uint64_t second = payload_name(PayloadSize::large, 1);
  EXPECT_EQ(payloads.data(second, 3, 3 * kLargePayload),
            payloads.data(payload_name(PayloadSize::large, 0), 3, 1) + payload_stride(PayloadSize::large));
  payloads.free(Payloads::hold_of(second, 2 * kLargePayload + 1));
  payloads.publish();
  EXPECT_EQ(freed[1], 0u);
  payloads.free(Payloads::hold_of(payload_name(PayloadSize::large, 0), 1));
  payloads.publish();
  EXPECT_EQ(freed[1], 4u);
}

/// Puts of several slots, from places that make the circle end between them.
TEST(Payloads, LongPutsOfABlockTakeOneCommandForEachRunOfSlots) {
  PayloadRoom room(3);
  Channel channel(room.with_ring(6));
  const ChannelView view = channel.view();
  WorldView world;
  world.channels = &view;
  world.nchannels = 1;
  world.timeout_ns = 60'000'000'000;
  constexpr uint64_t kLong = 3 * kLargePayload + 77;  // four slots of eight
  std::vector<unsigned char> own(kLong + 1);
  std::mt19937 random(3);
  for (unsigned char& byte : own) byte = static_cast<unsigned char>(random());
  size_t cut = 0;
  for (int i = 0; i < 20; ++i) {
    const uint64_t nbytes = i % 3 == 0 ? kLargePayload - 5 : kLong;
    Command c;
    c.op = CommandOp::put_payload;
    c.nbytes = nbytes;
    device::SlotPut put(c, own.data() + 1);
    ASSERT_EQ(device::put_by_slots<device::BlockScope>(world, put), ChannelStatus::ok);
    uint64_t at = 0;
    size_t commands = 0;
    for (; at < nbytes; ++commands) {
      const std::optional<Command> command = channel.peek();
      ASSERT_TRUE(command.has_value());
      ASSERT_EQ(command->remote_offset, at);
      const std::byte* const data = channel.payload(*command);
      ASSERT_NE(data, nullptr);
      ASSERT_EQ(std::memcmp(data, own.data() + 1 + at, command->nbytes), 0);
      at += command->nbytes;
      const uint64_t ticket = channel.next();
      channel.pop();
      channel.free_payload(Payloads::hold_of(command->value, command->nbytes));
      channel.complete(ticket);
      channel.publish();
    }
    EXPECT_EQ(at, nbytes);
    EXPECT_LE(commands, 2u);
    cut += commands == 2;
  }
  EXPECT_GT(cut, 0u);
  EXPECT_FALSE(channel.peek().has_value());
}

/// Threads put, each from its own memory, and clear it at once. The proxy looks at the data late.
TEST(Payloads, NoSlotIsWrittenBeforeItsDataHasBeenUsed) {
  constexpr int kThreads = 4;
  const int each = repetitions(2000);
  PayloadRoom room(0);
  Channel channel(room.with_ring(6));
  const ChannelView view = channel.view();
  WorldView world;
  world.channels = &view;
  world.nchannels = 1;
  world.timeout_ns = 60'000'000'000;
  std::vector<std::thread> producers;
  for (int t = 0; t < kThreads; ++t) {
    producers.emplace_back([&, t] {
      // Host threads play warps of one thread. Most puts take small slots, of which so many are in use at once.
      std::vector<unsigned char> own(2000);
      for (int i = 0; i < each; ++i) {
        Command c;
        c.op = CommandOp::put_payload;
        c.nbytes = i % 100 == 0 ? 1500 : 9 + static_cast<uint64_t>(i) % 900;
        c.remote_offset = static_cast<uint64_t>(t * each + i);
        std::fill_n(own.begin(), c.nbytes, static_cast<unsigned char>(c.remote_offset));
        device::SlotPut put(c, own.data());
        ASSERT_EQ(device::put_by_slots<device::WarpScope>(world, put), ChannelStatus::ok);
        std::fill_n(own.begin(), c.nbytes, static_cast<unsigned char>(0xee));
      }
    });
  }
  std::mt19937 random(7);
  std::vector<std::pair<Command, uint64_t>> held;
  for (int left = kThreads * each; left > 0;) {
    if (const auto command = channel.peek()) {
      held.emplace_back(*command, channel.next());
      channel.pop();
    } else {
      std::this_thread::yield();
    }
    if (held.empty() || (held.size() < 70 && random() % 2 == 0)) continue;
    std::swap(held[random() % held.size()], held.back());
    const auto [command, ticket] = held.back();
    held.pop_back();
    const std::byte* const data = channel.payload(command);
    ASSERT_NE(data, nullptr);
    const auto value = static_cast<std::byte>(command.remote_offset);
    ASSERT_TRUE(std::all_of(data, data + command.nbytes, [value](std::byte b) { return b == value; }));
    channel.free_payload(Payloads::hold_of(command.value, command.nbytes));
    channel.complete(ticket);
    channel.publish();
    --left;
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(*view.payloads[0].head, *view.payloads[0].freed);
  EXPECT_EQ(*view.payloads[1].head, *view.payloads[1].freed);
}

}  // namespace
}  // namespace railshmem
