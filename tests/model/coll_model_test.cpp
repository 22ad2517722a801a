// SPDX-License-Identifier: BSD-3-Clause
// The kernels of collectives, access by access, in every order that a few preemptions can make: numbers that count
// exchanges, two sets of places in turn, members that are a call ahead, and calls replayed. A member is one thread, so
// what threads of a block owe each other is not in here.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "src/cuda/kernels/coll_engines.h"
#include "tests/model/explorer.h"

namespace railshmem {
namespace emulation {

// Kernels of one block of one thread.
const WorldView& world() {
  static const WorldView view{};
  return view;
}
bool in_kernel() {
  return true;
}
bool is_global(const void*) {
  return true;
}
void fenced() {}
void sync_block() {}
void sync_part(uint32_t, uint32_t) {}
void sync_warp() {}
uint32_t active_lanes() {
  return 1;
}
uint32_t equal_lanes(uint32_t, uint64_t) {
  return 1;
}
uint64_t from_lane(uint32_t, uint64_t word, uint32_t) {
  return word;
}
void sync_lanes(uint32_t) {}

}  // namespace emulation

namespace {

using namespace cuda;

constexpr int kCalls = 3;

/// Members with scratch memory, and numbers for each call.
struct Node {
  Node(Explorer& with, int members) : explorer(with), n(members), stride(ScratchLayout(members).nbytes()) {
    scratch.resize(static_cast<size_t>(n) * stride / sizeof(Packet) + 1);
  }
  /// Makes the scratch memory what it was behind exchange `number`: what one thread of block 0 uses. `stale`: all
  /// places hold packets with the numbers of exchanges soon to come, kept from long ago.
  void reset(uint64_t number, bool stale) {
    const ScratchLayout layout(n);
    for (int me = 0; me < n; ++me) {
      unsigned char* const mine = reinterpret_cast<unsigned char*>(scratch.data()) + static_cast<uint64_t>(me) * stride;
      const auto clear = [mine](uint32_t at) { *reinterpret_cast<Packet*>(mine + at) = {}; };
      clear(layout.number(0));
      *reinterpret_cast<uint64_t*>(mine + layout.number(0)) = number;
      const auto clear_word = [mine](uint32_t at) { *reinterpret_cast<uint64_t*>(mine + at) = 0; };
      clear_word(layout.chunk_number(0));
      for (int k = 0; k < n; ++k) {
        clear_word(layout.taken(0, k));
        for (uint64_t slot = 0; slot < ScratchLayout::kSlots; ++slot) clear_word(layout.arrived(slot, 0, k));
      }
      for (uint32_t i = 0; i < 2 * static_cast<uint32_t>(n) * ScratchLayout::kTokens; ++i)
        clear(layout.tokens(0, 0, 0) + i * static_cast<uint32_t>(sizeof(Packet)));
      for (uint32_t set = 0; set < 4; ++set)
        for (int from = 0; from < n; ++from)
          for (uint32_t i = 0; i < ScratchLayout::kPacketsOfThread; ++i) {
            const uint32_t at =
                layout.packets(set / 2, set % 2, 0, from) + i * kCollThreads * static_cast<uint32_t>(sizeof(Packet));
            // The next number behind the renewal that is odd or even as those of the set.
            const uint64_t next = ScratchLayout::kRenewal + (set % 2 == 1 ? 1 : 2);
            *reinterpret_cast<Packet*>(mine + at) = {0, stale ? next << 32 : 0};
          }
    }
  }

  CollMembers members(int me) { return {reinterpret_cast<unsigned char*>(scratch.data()), stride, n, me, 1, kUnit}; }
  static uint64_t word(int from, int to, uint64_t call, uint64_t unit) {
    return call * 1000 + static_cast<uint64_t>(from) * 100 + static_cast<uint64_t>(to) * 10 + unit;
  }

  /// An all-to-all of blocks of `units` units, again and again, kUnits in an exchange.
  template <uint32_t kUnits>
  void exchange(int me, uint64_t units) {
    std::vector<uint64_t> source(static_cast<size_t>(n) * units * 2), dest(source.size());
    for (uint64_t call = 1; call <= kCalls; ++call) {
      for (int k = 0; k < n; ++k)
        for (uint64_t i = 0; i < 2 * units; ++i) source[static_cast<size_t>(k) * 2 * units + i] = word(me, k, call, i);
      kernels::run_move<kUnits>(
          EvenMoveCall{members(me), units * kUnit, {source.data(), units * kUnit}, {dest.data(), units * kUnit}});
      for (int k = 0; k < n; ++k)
        for (uint64_t i = 0; i < 2 * units; ++i)
          explorer.require(dest[static_cast<size_t>(k) * 2 * units + i] == word(k, me, call, i),
                           "a block has other data");
    }
  }

  /// A broadcast from one member: the others have nothing to send.
  void broadcast(int me) {
    std::array<uint64_t, 2> source{}, dest{};
    for (uint64_t call = 1; call <= kCalls; ++call) {
      source = {word(0, 0, call, 0), word(0, 0, call, 1)};
      MoveSizesCall broadcast{};
      broadcast.move.members = members(me);
      broadcast.move.nbytes = kUnit;
      for (int k = 0; k < n; ++k) {
        broadcast.move.source.at[k] = source.data();
        broadcast.move.dest.at[k] = dest.data();
        broadcast.send_nbytes[k] = me == 0 ? kUnit : 0;
        broadcast.receive_nbytes[k] = k == 0 ? kUnit : 0;
      }
      uint64_t most = 0;
      kernels::run_move_sizes(broadcast, &most);
      explorer.require(dest == source, "a broadcast has other data");
    }
  }

  /// An all-reduce in two steps, then one that goes from buffer to buffer: sources change behind each call, and so must
  /// have been read.
  void reduce(int me) {
    std::vector<uint64_t>& source = sources[static_cast<size_t>(me)];
    std::vector<uint64_t>& dest = dests[static_cast<size_t>(me)];
    source.resize(2 * static_cast<size_t>(n));
    dest.resize(source.size());
    for (uint64_t call = 1; call <= kCalls; ++call) {
      for (size_t i = 0; i < source.size(); ++i) portable::store_relaxed(&source[i], word(me, 0, call, i));
      DirectCombineCall asked{};
      CombineCall& combine = asked.combine;
      combine.members = members(me);
      combine.op = ReduceOp::sum;
      combine.kind = TypeKind::u64;
      combine.two_steps = 1;
      combine.nbytes = kUnit;
      combine.whole = source.size() * sizeof(uint64_t);
      combine.dest = dest.data();
      for (int k = 0; k < n; ++k) {
        combine.source.at[k] = source.data() + 2 * k;
        asked.where.source[k] = reinterpret_cast<uintptr_t>(source.data()) | (call % 2 == 0 ? Whereabouts::kForAll : 0);
        asked.where.dest[k] = reinterpret_cast<uintptr_t>(dest.data());
      }
      kernels::Found found{};
      kernels::Halves halves{};
      kernels::run_direct_combine(asked, found, halves);
      for (size_t i = 0; i < dest.size(); ++i) {
        uint64_t sum = 0;
        for (int k = 0; k < n; ++k) sum += word(k, 0, call, i);
        explorer.require(dest[i] == sum, "a sum has other operands");
      }
    }
  }

  /// An all-reduce in place by chunks of one unit, `chunks` for each member, again and again: more of them than there
  /// are slots. Then one in which the last member's part is empty.
  void reduce_staged(int me, uint64_t chunks) {
    std::vector<uint64_t>& vector = sources[static_cast<size_t>(me)];
    for (uint64_t call = 1; call <= kCalls; ++call) {
      const auto parts = static_cast<uint64_t>(call == kCalls ? n - 1 : n);
      vector.resize(2 * chunks * parts);
      for (size_t i = 0; i < vector.size(); ++i) portable::store_relaxed(&vector[i], word(me, 0, call, i));
      CombineCall combine{};
      combine.members = members(me);
      combine.op = ReduceOp::sum;
      combine.kind = TypeKind::u64;
      combine.two_steps = 1;
      combine.nbytes = chunks * kUnit;
      combine.whole = vector.size() * sizeof(uint64_t);
      combine.dest = vector.data();
      for (int k = 0; k < n; ++k) combine.source.at[k] = vector.data() + 2 * chunks * static_cast<uint64_t>(k);
      kernels::Halves halves{};
      kernels::run_staged_combine(combine, halves);
      for (size_t i = 0; i < vector.size(); ++i) {
        uint64_t sum = 0;
        for (int k = 0; k < n; ++k) sum += word(k, 0, call, i);
        explorer.require(vector[i] == sum, "a sum has other operands");
      }
    }
  }

  /// A broadcast by chunks from one member after the other, and no meeting in between.
  void broadcast_staged(int me) {
    std::array<uint64_t, 6> source{}, dest{};
    for (uint64_t call = 1; call <= kCalls; ++call) {
      const int root = static_cast<int>(call) % n;
      for (size_t i = 0; i < source.size(); ++i) source[i] = word(root, 0, call, i);
      dest = {};
      MoveCall broadcast{members(me), sizeof source, {}, {}};
      for (int k = 0; k < n; ++k) {
        broadcast.source.at[k] = source.data();
        broadcast.dest.at[k] = dest.data();
      }
      kernels::Halves halves{};
      kernels::run_staged_move(broadcast, root, halves);
      explorer.require(dest == source, "a broadcast has other data");
    }
  }

  Explorer& explorer;
  const int n;
  const uint64_t stride;
  std::vector<Packet> scratch;
  std::array<std::vector<uint64_t>, 4> sources, dests;
};

template <class Run>
size_t explore(int preemptions, int members, Run&& run, uint64_t number = 0, bool stale = false) {
  threads::threadIdx = threads::blockIdx = {0, 0, 0};
  Explorer explorer(preemptions);
  const auto node = std::make_unique<Node>(explorer, members);
  const size_t schedules = explorer.run([&] {
    node->reset(number, stale);
    std::vector<Explorer::Body> bodies;
    for (int me = 0; me < members; ++me) bodies.push_back([&run, &node, me] { run(*node, me); });
    return bodies;
  });
  ::testing::Test::RecordProperty("schedules", std::to_string(schedules));
  return schedules;
}

TEST(CollModel, TwoMembersExchangeAgainAndAgain) {
  EXPECT_GT(explore(2, 2, [](Node& node, int me) { node.exchange<1>(me, 1); }), 100u);
}

TEST(CollModel, SeveralExchangesOfOneKernel) {
  EXPECT_GT(explore(1, 2, [](Node& node, int me) { node.exchange<kUnitsOfThread>(me, 4); }), 100u);
  EXPECT_GT(explore(1, 2, [](Node& node, int me) { node.exchange<1>(me, 3); }), 100u);
}

/// The places hold packets whose numbers come again behind the renewal.
TEST(CollModel, PlacesAreRenewedBeforeNumbersComeAgain) {
  EXPECT_GT(explore(
                1, 2, [](Node& node, int me) { node.exchange<1>(me, 1); }, ScratchLayout::kRenewal - 1, true),
            100u);
}

TEST(CollModel, ThreeMembersRenewTheirPlaces) {
  EXPECT_GT(explore(
                1, 3, [](Node& node, int me) { node.exchange<1>(me, 1); }, ScratchLayout::kRenewal - 1, true),
            100u);
}

TEST(CollModel, ThreeMembersExchange) {
  EXPECT_GT(explore(1, 3, [](Node& node, int me) { node.exchange<1>(me, 1); }), 100u);
}

TEST(CollModel, MembersWithoutDataKeepARootFromRunningAhead) {
  EXPECT_GT(explore(1, 2, [](Node& node, int me) { node.broadcast(me); }), 100u);
}

TEST(CollModel, SourcesMayChangeAndResultsAreThereBehindACall) {
  EXPECT_GT(explore(1, 2, [](Node& node, int me) { node.reduce(me); }), 100u);
}

TEST(CollModel, ChunksOfTwoMembersAreReducedInPlace) {
  EXPECT_GT(explore(1, 2, [](Node& node, int me) { node.reduce_staged(me, 3); }), 100u);
}

TEST(CollModel, ChunksOfThreeMembersAreReducedInPlace) {
  EXPECT_GT(explore(1, 3, [](Node& node, int me) { node.reduce_staged(me, 1); }), 100u);
}

TEST(CollModel, ChunksOfOneMemberGoToAll) {
  EXPECT_GT(explore(1, 3, [](Node& node, int me) { node.broadcast_staged(me); }), 100u);
}

}  // namespace
}  // namespace railshmem
