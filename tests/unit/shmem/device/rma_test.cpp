// SPDX-License-Identifier: BSD-3-Clause
// The device functions on host threads: PE 1 is mapped, PE 2 is reached through a proxy that executes commands here.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "include/shmem/device/signal.h"
#include "src/channel/channel.h"
#include "tests/support/execute_command.h"

namespace railshmem {
namespace {

using device::Completion;

constexpr uint64_t kHeap = 4096;
constexpr int kMe = 0, kMapped = 1, kFar = 2;

struct alignas(64) Heap {
  unsigned char bytes[kHeap];
};

class DeviceRma : public ::testing::TestWithParam<int> {
 protected:
  DeviceRma()
      : heaps_(3),
        channel_(3),
        view_(channel_.view()),
        world_{.pe = kMe,
               .npes = 3,
               .first_pe = kMe,
               .node_npes = 2,
               .heap = {heaps_[0].bytes, kHeap, heaps_[0].bytes, sizeof(Heap), 0,
                        GetParam() == kFar ? 0 : kHeap},  // a far PE may not update what is declared
               .channels = &view_,
               .nchannels = 1,
               .timeout_ns = 20'000'000'000},
        proxy_([this](std::stop_token stop) { serve(stop); }) {
    std::iota(mine(), mine() + kHeap, 0);
  }

  unsigned char* mine() { return heaps_[kMe].bytes; }
  unsigned char* theirs() { return heaps_[static_cast<size_t>(GetParam())].bytes; }
  uint64_t* words(unsigned char* heap) { return reinterpret_cast<uint64_t*>(heap); }

  void serve(const std::stop_token& stop) {
    for (uint32_t idle = 0; !stop.stop_requested();) {
      const auto command = channel_.peek();
      if (!command) {
        portable::relax(idle++);
        continue;
      }
      execute_command(*command, heaps_[command->pe % heaps_.size()].bytes);  // a fence names no PE
      channel_.complete(channel_.next());
      channel_.pop();
      channel_.publish();
    }
  }

  std::vector<Heap> heaps_;
  Channel channel_;
  ChannelView view_;
  WorldView world_;
  std::jthread proxy_;
};

TEST_P(DeviceRma, PutAndGetOfEverySmallSizeAndOffset) {
  for (uint64_t nbytes = 0; nbytes <= 40; ++nbytes) {
    for (uint64_t at = 0; at < 17; ++at) {
      std::memset(theirs(), 0xee, kHeap);
      ASSERT_EQ(device::putmem(world_, mine() + 100 + at, mine() + 3, nbytes, GetParam(), Completion::later),
                ChannelStatus::ok);
      ASSERT_EQ(device::quiet(world_), ChannelStatus::ok);
      ASSERT_EQ(std::memcmp(theirs() + 100 + at, mine() + 3, nbytes), 0);
      ASSERT_EQ(theirs()[100 + at + nbytes], 0xee);
      ASSERT_EQ(theirs()[99 + at], 0xee);
      unsigned char back[64] = {};
      ASSERT_EQ(device::getmem(world_, back, mine() + 100 + at, nbytes, GetParam(), Completion::now),
                ChannelStatus::ok);
      ASSERT_EQ(std::memcmp(back, mine() + 3, nbytes), 0);
      ASSERT_EQ(back[nbytes], 0);
    }
  }
}

TEST_P(DeviceRma, BlockingPutReleasesItsSource) {
  unsigned char source[100];
  for (int round = 0; round < 200; ++round) {
    std::memset(source, round, sizeof source);
    ASSERT_EQ(device::putmem(world_, mine() + round, source, sizeof source, GetParam(), Completion::now),
              ChannelStatus::ok);
  }
  ASSERT_EQ(device::quiet(world_), ChannelStatus::ok);
  for (int round = 0; round < 200; ++round) EXPECT_EQ(theirs()[round], static_cast<unsigned char>(round));
}

TEST_P(DeviceRma, SignalFollowsItsData) {
  for (const uint64_t nbytes : {0u, 1u, 8u, 9u, 1000u}) {
    std::memset(theirs(), 0, kHeap);
    uint64_t* const signal = words(mine()) + 300;
    device::putmem_signal(world_, mine() + 8, mine(), nbytes, signal, 5, SignalOp::set, GetParam(), Completion::later);
    device::signal_update(world_, signal, 2, SignalOp::add, GetParam());
    const uint64_t end = portable::clock_ns() + 20'000'000'000;
    while (portable::load_acquire(words(theirs()) + 300) != 7) {
      ASSERT_LT(portable::clock_ns(), end) << "the signals of " << nbytes << " bytes have not come";
      portable::relax(255);
    }
    EXPECT_EQ(std::memcmp(theirs() + 8, mine(), nbytes), 0) << nbytes;
    ASSERT_EQ(device::quiet(world_), ChannelStatus::ok);
  }
}

TEST_P(DeviceRma, SingleValueAndFence) {
  ASSERT_EQ(device::p(world_, reinterpret_cast<uint32_t*>(mine() + 12), 0xdeadbeefu, GetParam()), ChannelStatus::ok);
  ASSERT_EQ(device::fence(world_), ChannelStatus::ok);
  ASSERT_EQ(device::quiet(world_), ChannelStatus::ok);
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(theirs() + 12), 0xdeadbeefu);
}

template <class T>
T fetch(const WorldView& world, T* dest, AmoOp op, T operand, T compare, int pe) {
  T old{};
  EXPECT_EQ(device::amo_fetch(world, &old, dest, op, operand, compare, pe), ChannelStatus::ok);
  return old;
}

template <class T>
void run_atomics(const WorldView& world, T* dest, int pe) {
  ASSERT_EQ(device::amo(world, dest, AmoOp::set, T{12}, T{0}, pe), ChannelStatus::ok);
  EXPECT_EQ(fetch(world, dest, AmoOp::fetch_add, static_cast<T>(~T{0}), T{0}, pe), T{12});
  EXPECT_EQ(fetch(world, dest, AmoOp::compare_swap, T{7}, T{10}, pe), T{11});
  EXPECT_EQ(fetch(world, dest, AmoOp::compare_swap, T{7}, T{11}, pe), T{11});
  EXPECT_EQ(fetch(world, dest, AmoOp::swap, T{6}, T{0}, pe), T{7});
  EXPECT_EQ(fetch(world, dest, AmoOp::fetch_and, T{3}, T{0}, pe), T{6});
  EXPECT_EQ(fetch(world, dest, AmoOp::fetch_or, T{9}, T{0}, pe), T{2});
  EXPECT_EQ(fetch(world, dest, AmoOp::fetch_xor, T{1}, T{0}, pe), T{11});
  ASSERT_EQ(device::amo(world, dest, AmoOp::add, T{5}, T{0}, pe), ChannelStatus::ok);
  EXPECT_EQ(fetch(world, dest, AmoOp::fetch, T{0}, T{0}, pe), T{15});
}

TEST_P(DeviceRma, AtomicsOfBothWidths) {
  run_atomics(world_, reinterpret_cast<uint32_t*>(mine() + 64), GetParam());
  run_atomics(world_, reinterpret_cast<uint64_t*>(mine() + 128), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Peers, DeviceRma, ::testing::Values(kMapped, kFar),
                         [](const auto& peer) { return peer.param == kMapped ? "Mapped" : "Far"; });

}  // namespace
}  // namespace railshmem
