// SPDX-License-Identifier: BSD-3-Clause
// Puts whose data kernels store into slots: every size and scope, and what happens when no slot is free.
#include <gtest/gtest.h>
#include <shmem.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "include/shmem/device/signal.h"
#include "tests/gpu/emulated/emulated_job.h"

namespace railshmem::emulation {
namespace {

using device::BlockScope;
using device::Completion;
using device::ThreadScope;
using device::WarpScope;

enum class Call { put, put_nbi, put_signal };

struct Case {
  const char* scope;
  uint32_t threads;
  ChannelStatus (*call)(const WorldView&, Call, void* dest, const void* source, uint64_t nbytes, uint64_t* signal);
  uint64_t longest, slot;
};

template <class Scope>
ChannelStatus issue(const WorldView& world, Call call, void* dest, const void* source, uint64_t nbytes,
                    uint64_t* signal) {
  if (call == Call::put_signal)
    return device::putmem_signal<Scope>(world, dest, source, nbytes, signal, 7, SignalOp::set, 1, Completion::later);
  const Completion completion = call == Call::put ? Completion::now : Completion::later;
  return device::putmem<Scope>(world, dest, source, nbytes, 1, completion);
}

const Case kCases[] = {{"thread", 1, issue<ThreadScope>, 1024, 1024},
                       {"warp", 32, issue<WarpScope>, 16384, 16384},
                       {"part of a warp", 7, issue<WarpScope>, 16384, 16384},
                       {"block", 80, issue<BlockScope>, 65536, 16384},
                       {"small block", 9, issue<BlockScope>, 65536, 16384}};
constexpr uint64_t kSizes[] = {9, 16, 17, 1000, 1024, 1025, 4097, 16383, 16384, 16385, 40000, 65536, 65537};

/// Of a global source.
uint64_t slots_of(const Case& with, Call call, uint64_t nbytes) {
  if (nbytes > (call == Call::put_signal ? with.slot : with.longest)) return 0;
  return (nbytes + with.slot - 1) / with.slot;
}

class Payloads : public ::testing::Test {
 protected:
  Payloads() { std::iota(mine(), mine() + kRoom, 0); }
  unsigned char* mine() { return job_.object(0); }
  unsigned char* theirs() { return job_.object(1, kRoom); }
  uint64_t* their_signal() { return job_.object<uint64_t>(1, 2 * kRoom); }

  static constexpr uint64_t kRoom = uint64_t{128} << 10;
  Job job_{{.node_npes = 1, .nchannels = 2, .log2_payloads = 5}};
};

TEST_F(Payloads, EverySizeArrivesFromEveryScope) {
  for (const Case& with : kCases) {
    for (const uint64_t nbytes : kSizes) {
      for (const Call call : {Call::put, Call::put_nbi, Call::put_signal}) {
        SCOPED_TRACE(std::string(with.scope) + ", " + std::to_string(nbytes) + " bytes, call " +
                     std::to_string(static_cast<int>(call)));
        const uint64_t shift = nbytes % 3 * 5;  // of the source, against a multiple of 16
        std::memset(theirs(), 0xee, kRoom);
        *their_signal() = 0;
        const uint64_t before = job_.payloads();
        job_.run_on(0, 1, with.threads, [&] {
          const ChannelStatus status = with.call(job_.view(0), call, job_.object(0, kRoom + 3), mine() + shift, nbytes,
                                                 job_.object<uint64_t>(0, 2 * kRoom));
          EXPECT_EQ(status, ChannelStatus::ok);
          threads::sync_block();
          if (threads::rank_in_block() == 0) {
            EXPECT_EQ(device::quiet(job_.view(0)), ChannelStatus::ok);
          }
        });
        ASSERT_EQ(std::memcmp(theirs() + 3, mine() + shift, nbytes), 0);
        ASSERT_EQ(theirs()[2], 0xee);
        ASSERT_EQ(theirs()[3 + nbytes], 0xee);
        EXPECT_EQ(*their_signal(), call == Call::put_signal ? 7u : 0u);
        EXPECT_EQ(job_.payloads() - before, slots_of(with, call, nbytes));
      }
    }
  }
}

/// Rails could not read there: what is too long for slots goes value by value.
TEST_F(Payloads, AThreadsOwnVariablesGoAlongHoweverLong) {
  for (const Case& with : kCases) {
    for (const uint64_t nbytes : {uint64_t{9}, uint64_t{500}, uint64_t{2000}, uint64_t{16384}, uint64_t{70000}}) {
      for (const Call call : {Call::put, Call::put_signal}) {
        SCOPED_TRACE(std::string(with.scope) + ", " + std::to_string(nbytes) + " bytes");
        std::memset(theirs(), 0xee, kRoom);
        *their_signal() = 0;
        job_.run_on(0, 1, with.threads, [&] {
          std::vector<unsigned char> own(nbytes, static_cast<unsigned char>(threads::rank_in_block() + 1));
          const ChannelStatus status = with.call(job_.view(0), call, job_.object(0, kRoom), own.data(), nbytes,
                                                 job_.object<uint64_t>(0, 2 * kRoom));
          EXPECT_EQ(status, ChannelStatus::ok);
          std::memset(own.data(), 0xcc, nbytes);  // the source is the caller's again
          threads::sync_block();
          if (threads::rank_in_block() == 0) {
            EXPECT_EQ(device::quiet(job_.view(0)), ChannelStatus::ok);
          }
        });
        EXPECT_EQ(std::vector<unsigned char>(theirs(), theirs() + nbytes), std::vector<unsigned char>(nbytes, 1));
        EXPECT_EQ(theirs()[nbytes], 0xee);
        if (call == Call::put_signal) {
          EXPECT_EQ(*their_signal(), 7u);
        }
      }
    }
  }
}

struct GetCase {
  const char* scope;
  uint32_t threads;
  ChannelStatus (*get)(const WorldView&, void* dest, const void* source, uint64_t nbytes, Completion);
  uint64_t longest;
};
template <class Scope>
ChannelStatus get(const WorldView& world, void* dest, const void* source, uint64_t nbytes, Completion completion) {
  return device::getmem<Scope>(world, dest, source, nbytes, 1, completion);
}
const GetCase kGetCases[] = {{"thread", 1, get<ThreadScope>, 256},
                             {"warp", 32, get<WarpScope>, 4096},
                             {"part of a warp", 7, get<WarpScope>, 4096},
                             {"block", 80, get<BlockScope>, 16384},
                             {"small block", 9, get<BlockScope>, 16384}};

TEST_F(Payloads, EverySizeComesToEveryScope) {
  std::iota(theirs(), theirs() + kRoom, 5);
  unsigned char* const dest = job_.object(0, 3 * kRoom);
  for (const GetCase& with : kGetCases) {
    for (const uint64_t nbytes : {1, 8, 9, 17, 255, 256, 257, 1000, 4096, 4097, 16384, 16385, 50000}) {
      for (const Completion completion : {Completion::now, Completion::later}) {
        SCOPED_TRACE(std::string(with.scope) + ", " + std::to_string(nbytes) + " bytes, " +
                     (completion == Completion::now ? "now" : "later"));
        const uint64_t shift = nbytes % 5, before = job_.gets_by_slot();
        std::memset(dest, 0xee, kRoom);
        job_.run_on(0, 1, with.threads, [&] {
          EXPECT_EQ(with.get(job_.view(0), dest + shift, job_.object(0, kRoom + 1), nbytes, completion),
                    ChannelStatus::ok);
          if (completion == Completion::now) {
            EXPECT_EQ(std::memcmp(dest + shift, theirs() + 1, nbytes), 0)
                << "seen by every thread, " << with.scope << ", " << nbytes;
          }
          threads::sync_block();
          if (threads::rank_in_block() == 0) {
            EXPECT_EQ(device::quiet(job_.view(0)), ChannelStatus::ok);
          }
        });
        ASSERT_EQ(std::memcmp(dest + shift, theirs() + 1, nbytes), 0);
        ASSERT_EQ(dest[shift + nbytes], 0xee);
        if (shift > 0) {
          ASSERT_EQ(dest[shift - 1], 0xee);
        }
        EXPECT_EQ(job_.gets_by_slot() - before, completion == Completion::now && nbytes <= with.longest ? 1u : 0u);
      }
    }
  }
}

TEST_F(Payloads, GetsIntoAThreadsOwnVariables) {
  std::iota(theirs(), theirs() + kRoom, 5);
  for (const GetCase& with : kGetCases) {
    for (const uint64_t nbytes : {uint64_t{9}, uint64_t{200}, uint64_t{4000}, uint64_t{20000}}) {
      SCOPED_TRACE(std::string(with.scope) + ", " + std::to_string(nbytes) + " bytes");
      job_.run_on(0, 1, with.threads, [&] {
        std::vector<unsigned char> own(nbytes + 1, 0xcc);
        EXPECT_EQ(with.get(job_.view(0), own.data(), job_.object(0, kRoom), nbytes, Completion::now),
                  ChannelStatus::ok);
        const bool leads = threads::rank_in_block() == 0;
        EXPECT_EQ(std::memcmp(own.data(), theirs(), nbytes) == 0, leads) << "into the first thread's variable";
        EXPECT_EQ(own[nbytes], 0xcc);
      });
    }
  }
}

/// More blocks and lanes than there are get slots: who finds none is served in another way, and all come free again.
TEST_F(Payloads, ManyGetsAtOnce) {
  constexpr uint32_t kBlocks = 12, kThreads = 40, kRounds = 6, kEach = 100;
  std::iota(theirs(), theirs() + kRoom, 5);
  unsigned char* const dest = job_.object(0, 3 * kRoom);
  for (uint32_t round = 0; round < kRounds; ++round) {
    std::memset(dest, 0, kRoom);
    job_.run_on(0, kBlocks, kThreads, [&] {
      const uint32_t block = threads::block_in_grid(), rank = threads::rank_in_block();
      if (round % 2 == 0) {
        const uint64_t at = (block * kThreads + rank) * kEach;
        EXPECT_EQ(get<ThreadScope>(job_.view(0), dest + at, job_.object(0, kRoom + at), kEach, Completion::now),
                  ChannelStatus::ok);
      } else {
        const uint64_t at = block * kThreads * kEach;
        EXPECT_EQ(
            get<BlockScope>(job_.view(0), dest + at, job_.object(0, kRoom + at), kThreads * kEach, Completion::now),
            ChannelStatus::ok);
      }
    });
    ASSERT_EQ(std::memcmp(dest, theirs(), kBlocks * kThreads * kEach), 0) << round;
  }
  EXPECT_GT(job_.gets_by_slot(), kRounds * kGetSlots);
  for (size_t i = 0; i < 2; ++i)
    for (uint32_t slot = 0; slot < kGetSlots; ++slot) EXPECT_EQ(job_.channel(0, i).view().gets.taken[slot], 0u);
}

TEST_F(Payloads, ABlockingPutReturnsBeforeAnybodyHasReadIt) {
  job_.stalled = true;
  job_.run_on(0, 1, 32, [&] {
    EXPECT_EQ(device::putmem<WarpScope>(job_.view(0), job_.object(0, kRoom), mine(), 5000, 1, Completion::now),
              ChannelStatus::ok);
  });
  const std::vector<unsigned char> sent(mine(), mine() + 5000);
  std::memset(mine(), 0, 5000);
  job_.stalled = false;
  job_.run_on(0, 1, 1, [&] { EXPECT_EQ(device::quiet(job_.view(0)), ChannelStatus::ok); });
  EXPECT_EQ(std::memcmp(theirs(), sent.data(), sent.size()), 0);
}

TEST_F(Payloads, WhatLiesInTheHostsHeapIsLeftToRails) {
  std::memset(job_.other(0), 5, 4096);
  job_.run_on(0, 1, 32, [&] {
    EXPECT_EQ(device::putmem<WarpScope>(job_.view(0), job_.object(0, kRoom), job_.other(0), 4096, 1, Completion::now),
              ChannelStatus::ok);
  });
  EXPECT_EQ(job_.payloads(), 0u);
  EXPECT_EQ(theirs()[4095], 5);
}

TEST_F(Payloads, LanesTakeTheirSlotsTogetherAgainAndAgain) {
  constexpr uint32_t kThreads = 64, kRounds = 12, kEach = 100;
  static_assert(kThreads * kRounds > 4 * kSmallPayloads, "slots are used again");
  for (const uint32_t turns : {0u, 3u, kAllLanes}) {
    const uint32_t before = patience;
    patience = turns;
    std::memset(theirs(), 0, kRoom);
    job_.run_on(0, 1, kThreads, [&] {
      const uint32_t rank = threads::rank_in_block();
      for (uint32_t round = 0; round < kRounds; ++round) {
        unsigned char own[kEach];
        std::memset(own, static_cast<int>(1 + (rank + round) % 200), kEach);
        shmem_putmem_nbi(job_.object(0, kRoom + (round * kThreads + rank) * uint64_t{kEach}), own, kEach, 1);
      }
      shmem_quiet();
    });
    patience = before;
    for (uint32_t i = 0; i < kRounds * kThreads; ++i) {
      const auto value = static_cast<unsigned char>(1 + (i % kThreads + i / kThreads) % 200);
      ASSERT_EQ(theirs()[i * uint64_t{kEach}], value) << i;
      ASSERT_EQ(theirs()[i * uint64_t{kEach} + kEach - 1], value) << i;
    }
  }
}

/// Wakes the proxy when so many commands are in the ring.
void wake_after(Job& job, uint64_t commands) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const uint64_t* const head = job.channel(0, 0).view().ring.head;
  while (portable::load_acquire(head) < commands && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  job.stalled = false;
}

/// One slot and many blocks: each waits for the slot, and nobody overwrites another's data.
TEST(FullPayloads, WhoFindsNoSlotWaits) {
  constexpr uint32_t kBlocks = 8, kThreads = 33, kEach = 4000;
  Job job({.node_npes = 1, .nchannels = 1, .log2_payloads = 0});
  for (uint32_t i = 0; i < kBlocks * kEach; ++i) job.object(0)[i] = static_cast<unsigned char>(i / kEach * 7 + i % 13);
  job.stalled = true;
  std::jthread wakes([&] {
    wake_after(job, 1);
    EXPECT_EQ(job.commands(), 0u) << "the others wait";
  });
  job.run_on(0, kBlocks, kThreads, [&] {
    const uint64_t at = threads::block_in_grid() * uint64_t{kEach};
    EXPECT_EQ(device::putmem<BlockScope>(job.view(0), job.object(0, (1 << 20) + at), job.object(0, at), kEach, 1,
                                         Completion::later),
              ChannelStatus::ok);
  });
  job.run_on(0, 1, 1, [&] { EXPECT_EQ(device::quiet(job.view(0)), ChannelStatus::ok); });
  EXPECT_EQ(job.payloads(), kBlocks);
  EXPECT_EQ(job.commands(), kBlocks);
  EXPECT_EQ(std::memcmp(job.object(1, 1 << 20), job.object(0), kBlocks * kEach), 0);
}

/// Each part takes the only slot again.
TEST(FullPayloads, APutOfMoreSlotsThanThereAreArrivesWhole) {
  for (const uint64_t nbytes : {uint64_t{16385}, uint64_t{50000}}) {
    Job job({.node_npes = 1, .nchannels = 1, .log2_payloads = 0});
    std::iota(job.object(0), job.object(0) + nbytes, 3);
    job.stalled = true;
    std::jthread wakes([&] { wake_after(job, 1); });
    job.run_on(0, 1, 70, [&] {
      EXPECT_EQ(
          device::putmem<BlockScope>(job.view(0), job.object(0, 1 << 20), job.object(0), nbytes, 1, Completion::now),
          ChannelStatus::ok);
    });
    job.run_on(0, 1, 1, [&] { EXPECT_EQ(device::quiet(job.view(0)), ChannelStatus::ok); });
    EXPECT_EQ(job.payloads(), nbytes / 16384 + 1) << "the last bytes find a small slot";
    EXPECT_EQ(job.commands(), job.payloads());
    EXPECT_EQ(std::memcmp(job.object(1, 1 << 20), job.object(0), nbytes), 0);
  }
}

/// The slot that was drawn stays empty and would hold back all later ones, so the channel is dead. What was pushed
/// before is still done.
TEST(FullPayloads, AWaitForASlotEndsAtTheDeadline) {
  for (const uint32_t threads : {32u, 70u}) {
    Job job({.node_npes = 1, .nchannels = 1, .log2_payloads = 0, .timeout_ns = 200'000'000});
    job.stalled = true;
    const auto put = [&] {
      return threads == 32 ? device::putmem<WarpScope>(job.view(0), job.object(0, 1 << 20), job.object(0), 4000, 1,
                                                       Completion::later)
                           : device::putmem<BlockScope>(job.view(0), job.object(0, 1 << 20), job.object(0), 40000, 1,
                                                        Completion::later);
    };
    job.run_on(0, 1, threads, [&] {
      ChannelStatus status = ChannelStatus::ok;
      for (int i = 0; i < (threads == 32 ? 2 : 1); ++i) status = put();
      EXPECT_EQ(status, threads::rank_in_block() == 0 ? ChannelStatus::timeout : ChannelStatus::ok);
    });
    EXPECT_EQ(*job.channel(0, 0).view().ring.error, static_cast<uint64_t>(ChannelStatus::timeout));
    job.stalled = false;
    for (int ms = 0; ms < 20'000 && portable::load_acquire(job.channel(0, 0).view().completed) == 0; ++ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    job.run_on(0, 1, 1, [&] { EXPECT_EQ(device::quiet(job.view(0)), ChannelStatus::ok); });
    EXPECT_EQ(job.payloads(), 1u);
    job.run_on(0, 1, threads,
               [&] { EXPECT_EQ(put(), threads::rank_in_block() == 0 ? ChannelStatus::timeout : ChannelStatus::ok); });
  }
}

/// Lanes wait together: more puts than there are small slots, each from a variable, while the proxy sleeps.
TEST(FullPayloads, LanesWaitTogether) {
  constexpr uint32_t kThreads = 32, kPuts = 3;
  static_assert(kThreads * kPuts > kSmallPayloads);
  Job job({.node_npes = 1, .nchannels = 1, .log2_payloads = 0});
  job.stalled = true;
  std::jthread wakes([&] { wake_after(job, 33); });
  job.run_on(0, 1, kThreads, [&] {
    for (uint32_t i = 0; i < kPuts; ++i) {
      const std::vector<unsigned char> own(50, static_cast<unsigned char>(1 + threads::rank_in_block() + i * kThreads));
      const uint64_t at = (1 << 20) + (threads::rank_in_block() + i * kThreads) * 50;
      EXPECT_EQ(
          device::putmem<ThreadScope>(job.view(0), job.object(0, at), own.data(), own.size(), 1, Completion::later),
          ChannelStatus::ok);
    }
    EXPECT_EQ(device::quiet(job.view(0)), ChannelStatus::ok);
  });
  EXPECT_EQ(job.commands(), kThreads * kPuts);
  for (uint32_t i = 0; i < kThreads * kPuts * 50; ++i)
    ASSERT_EQ(job.object(1, 1 << 20)[i], static_cast<unsigned char>(1 + i / 50)) << i;
}

/// The data may still come, so the slot is not used again.
TEST(FullPayloads, AGetThatFailsKeepsItsSlot) {
  for (const uint32_t threads : {1u, 32u, 70u}) {
    Job job({.node_npes = 1, .nchannels = 1, .log2_payloads = 0, .timeout_ns = 200'000'000});
    job.stalled = true;
    job.run_on(0, 1, threads, [&] {
      const auto get = [&](auto scope) {
        return device::getmem<decltype(scope)>(job.view(0), job.object(0), job.object(0, 1 << 20), 200, 1,
                                               Completion::now);
      };
      const ChannelStatus status = threads == 1    ? get(ThreadScope())
                                   : threads == 32 ? get(WarpScope())
                                                   : get(BlockScope());
      EXPECT_EQ(status, threads::rank_in_block() == 0 ? ChannelStatus::timeout : ChannelStatus::ok);
    });
    uint32_t taken = 0;
    for (uint32_t slot = 0; slot < kGetSlots; ++slot) taken += job.channel(0, 0).view().gets.taken[slot];
    EXPECT_EQ(taken, 1u);
  }
}

/// A put of four slots whose command finds no room in the ring: the other threads must not wait for a leader that has
/// given up.
TEST(FullPayloads, AFailureEndsALongPutForTheWholeScope) {
  Job job({.node_npes = 1, .nchannels = 1, .log2_payloads = 7, .timeout_ns = 200'000'000});
  job.stalled = true;
  job.run_on(0, 1, 70, [&] {
    ChannelStatus status = ChannelStatus::ok;
    for (int i = 0; i < 64 && status == ChannelStatus::ok; ++i)  // as many as the ring has places
      status = device::putmem<BlockScope>(job.view(0), job.object(0, 1 << 20), job.object(0), 17, 1, Completion::later);
    EXPECT_EQ(status, ChannelStatus::ok);
    status = device::putmem<BlockScope>(job.view(0), job.object(0, 1 << 20), job.object(0), 50000, 1, Completion::now);
    EXPECT_EQ(status, threads::rank_in_block() == 0 ? ChannelStatus::timeout : ChannelStatus::ok);
  });
  EXPECT_EQ(static_cast<ChannelStatus>(*job.channel(0, 0).view().ring.error), ChannelStatus::timeout);
}

}  // namespace
}  // namespace railshmem::emulation
