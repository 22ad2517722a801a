// SPDX-License-Identifier: BSD-3-Clause
// Lanes of a warp that take tickets of a ring together; grids and blocks of three dimensions; shared memory.
#include <gtest/gtest.h>
#include <shmem.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "include/shmem/device/reserve.h"
#include "tests/gpu/emulated/emulated_job.h"

namespace railshmem::emulation {
namespace {

using device::Deadline;
using device::Reserved;

class Warps : public ::testing::Test {
 protected:
  ~Warps() override { patience = before_; }
  /// For kernels in which all lanes of a warp make each call.
  static void all_lanes_come_together() { patience = kAllLanes; }

  const uint32_t before_ = patience;
  Job job_{{}};
};

TEST_F(Warps, LanesThatCallTogetherGetNeighbouringTickets) {
  all_lanes_come_together();
  constexpr uint32_t kThreads = 48;
  Channel channel(6);
  std::vector<Reserved> reserved(kThreads);
  job_.run_on(0, 1, kThreads, [&] {
    reserved[threads::rank_in_block()] = device::reserve_one(channel.view().ring, Deadline::never());
  });
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    EXPECT_EQ(reserved[thread].status, ChannelStatus::ok);
    EXPECT_EQ(reserved[thread].ticket, reserved[thread / 32 * 32].ticket + thread % 32);
  }
  // The warp that came first has the tickets from 0 on.
  EXPECT_EQ(reserved[0].ticket + reserved[32].ticket, reserved[0].ticket == 0 ? 32u : 16u);
  EXPECT_EQ(*channel.view().ring.head, kThreads);
}

TEST_F(Warps, LanesOnOtherRingsTakeNoTicketsOfThisOne) {
  all_lanes_come_together();
  Channel even(6), odd(6);
  std::vector<uint64_t> tickets(32);
  job_.run_on(0, 1, 32, [&] {
    const uint32_t lane = threads::lane();
    tickets[lane] = device::reserve_one((lane % 2 == 0 ? even : odd).view().ring, Deadline::never()).ticket;
  });
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(tickets[lane], lane / 2);
  EXPECT_EQ(*even.view().ring.head, 16u);
  EXPECT_EQ(*odd.view().ring.head, 16u);
}

TEST_F(Warps, WithoutRoomEveryLaneLearnsWhy) {
  all_lanes_come_together();
  Channel channel(5);
  std::vector<ChannelStatus> first(32), second(32);
  job_.run_on(0, 1, 32, [&] {
    const uint32_t lane = threads::lane();
    first[lane] = device::reserve_one(channel.view().ring, Deadline::never()).status;
    second[lane] = device::reserve_one(channel.view().ring, Deadline::in(50'000'000)).status;
  });
  EXPECT_EQ(first, std::vector<ChannelStatus>(32, ChannelStatus::ok));
  EXPECT_EQ(second, std::vector<ChannelStatus>(32, ChannelStatus::timeout));
  EXPECT_EQ(static_cast<ChannelStatus>(*channel.view().ring.error), ChannelStatus::timeout);
}

TEST_F(Warps, EveryTicketIsTakenOnceByWhicheverLanesMeet) {
  constexpr uint32_t kThreads = 64, kEach = 15;
  for (const uint32_t turns : {0u, 1u, 20u}) {
    patience = turns;
    Channel channel(10);
    std::vector<uint64_t> tickets(size_t{kThreads} * kEach), all(tickets.size());
    job_.run_on(0, 1, kThreads, [&] {
      for (uint32_t i = 0; i < kEach; ++i) {
        tickets[threads::rank_in_block() * kEach + i] =
            device::reserve_one(channel.view().ring, Deadline::never()).ticket;
      }
    });
    std::sort(tickets.begin(), tickets.end());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(tickets, all);
  }
}

TEST_F(Warps, ValuesOfAllLanesArriveFarAway) {
  all_lanes_come_together();
  Job far({.node_npes = 1, .nchannels = 2});
  far.run_on(0, 2, 64, [&] {
    const uint32_t i = threads::block_in_grid() * 64 + threads::rank_in_block();
    for (int round = 0; round < 5; ++round) shmem_long_p(far.object<long>(0) + i, 1000 * round + long{i}, 1);
    shmem_quiet();
  });
  for (long i = 0; i < 128; ++i) EXPECT_EQ(far.object<long>(1)[i], 4000 + i);
}

TEST_F(Warps, PlacesInThreeDimensionsHaveNumbers) {
  constexpr uint32_t kThreads = 4 * 3 * 5, kBlocks = 2 * 3 * 2;
  std::vector<std::atomic<int>> seen(size_t{kThreads} * kBlocks);
  std::atomic<uint32_t> in_full_warps{0};
  run({{&job_.view(0), Dim(2, 3, 2), Dim(4, 3, 5), [&] {
          const Dim at = threads::threadIdx;
          EXPECT_EQ(threads::rank_in_block(), at.x + 4 * at.y + 12 * at.z);
          EXPECT_EQ(threads::block_size(), kThreads);
          if (threads::warp_size() == 32) in_full_warps.fetch_add(1);
          seen[threads::block_in_grid() * kThreads + threads::rank_in_block()].fetch_add(1);
        }}});
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& times) { return times == 1; }));
  EXPECT_EQ(in_full_warps, 32 * kBlocks);
}

TEST_F(Warps, ABlockOfThreeDimensionsPutsTogether) {
  for (const int node : {1, 2}) {
    Job job({.node_npes = node});
    std::iota(job.object(0), job.object(0) + 3000, 1);
    run({{&job.view(0), Dim(1, 2, 1), Dim(3, 2, 7), [&] {
            const uint64_t at = threads::block_in_grid() * 1500;
            shmemx_putmem_block(job.object(0, at), job.object(0, at), 1500, 1);
            shmem_quiet();
          }}});
    EXPECT_EQ(std::memcmp(job.object(1), job.object(0), 3000), 0);
  }
}

TEST_F(Warps, SharedMemoryIsOfOneBlockAndOutOfReachForTheProxy) {
  constexpr uint32_t kThreads = 40;
  for (const int node : {1, 2}) {
    Job job({.node_npes = node});
    auto* const dest = job.object<uint32_t>(0);
    run({{&job.view(0), 3, kThreads,
          [&] {
            auto& tile = shared<uint32_t[kThreads]>("tile");
            auto* const more = dynamic_shared<uint32_t>();
            const uint32_t thread = threads::rank_in_block(), block = threads::block_in_grid();
            EXPECT_EQ(tile[thread], 0xA5A5A5A5u);
            EXPECT_FALSE(portable::is_global(&tile[thread]));
            EXPECT_FALSE(portable::is_global(&more[thread]));
            tile[thread] = 100 * block + thread;
            more[thread] = 1000 + tile[thread];
            threads::sync_block();
            EXPECT_EQ(tile[kThreads - 1 - thread], 100 * block + kThreads - 1 - thread);
            if (thread != 0) return;
            shmem_uint32_put(dest + 2 * kThreads * block, tile, kThreads, 1);
            shmem_uint32_put(dest + 2 * kThreads * block + kThreads, more, kThreads, 1);
            shmem_quiet();
          },
          kThreads * sizeof(uint32_t)}});
    for (uint32_t i = 0; i < 6 * kThreads; ++i) {
      const uint32_t block = i / kThreads / 2, more = i / kThreads % 2 * 1000;
      EXPECT_EQ(job.object<uint32_t>(1)[i], more + 100 * block + i % kThreads);
    }
  }
}

}  // namespace
}  // namespace railshmem::emulation
