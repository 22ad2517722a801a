// SPDX-License-Identifier: BSD-3-Clause
// Collectives by packets and by chunks, with kernels of several blocks and threads for each member, many exchanges in a
// call and nothing between two calls: who may load and store when. ThreadSanitizer looks on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "src/cuda/kernels/coll_direct.h"
#include "tests/gpu/emulated/emulation.h"

namespace railshmem::cuda {
namespace {

constexpr int kMembers = 3, kCalls = 4;
constexpr uint32_t kBlocks = 2, kThreads = 3;
constexpr uint64_t kRound =
    uint64_t{kBlocks} * kThreads * kUnitsOfThread * kUnit;  ///< bytes of an exchange of all blocks

constexpr uint32_t kChunk = 10 * kUnit;  ///< bytes

/// Members in one process.
class Node {
 public:
  Node() : stride_(ScratchLayout(kMembers).nbytes()) {
    scratch_ = static_cast<unsigned char*>(std::calloc(kMembers, stride_));
    view_.timeout_ns = 60'000'000'000;
    for (int me = 0; me < kMembers; ++me)
      for (int k = 0; k < kMembers; ++k)
        *reinterpret_cast<int32_t*>(scratch(me) + ScratchLayout(kMembers).pe(k)) = kFirstPe + k;
  }
  ~Node() { std::free(scratch_); }
  Node(const Node&) = delete;

  static constexpr int kFirstPe = 40;  ///< the PE of member 0

  /// Kernels give up soon, and tell so.
  void expect_fault(FaultRecord* record, uint32_t* taken) {
    view_.timeout_ns = 50'000'000;
    view_.fault = record;
    view_.fault_taken = taken;
  }
  unsigned char* scratch(int me) const { return scratch_ + static_cast<uint64_t>(me) * stride_; }
  CollMembers members(int me) const { return {scratch_, stride_, kMembers, me, kBlocks, kChunk}; }
  /// Runs `body` for each member at once.
  static void run(const std::function<void(int me)>& body) {
    std::vector<std::thread> members;
    for (int me = 0; me < kMembers; ++me) members.emplace_back([&body, me] { body(me); });
    for (std::thread& member : members) member.join();
  }
  void launch(const std::function<void()>& kernel) const { emulation::run({{&view_, kBlocks, kThreads, kernel}}); }

 private:
  const uint64_t stride_;
  unsigned char* scratch_ = nullptr;
  WorldView view_{};
};

unsigned char byte_of(int from, int to, int call, uint64_t i) {
  return static_cast<unsigned char>(static_cast<uint64_t>(from * 97 + to * 31 + call * 7) + i + (i >> 8));
}

/// What a member sends to another one: nothing to some, to others several exchanges.
uint64_t nbytes_of(int from, int to) {
  constexpr uint64_t kSizes[] = {0, 3 * kRound / 2 + 13, 9 * kRound + 4 * kUnit};
  return kSizes[(from + 2 * to) % 3];
}

TEST(CollPackets, BlocksOfAnySizesArriveAndSourcesMayChangeBehindACall) {
  const Node node;
  Node::run([&node](int me) {
    std::vector<std::vector<unsigned char>> sources, dests;
    for (int k = 0; k < kMembers; ++k) {
      sources.emplace_back(nbytes_of(me, k) + 1);
      dests.emplace_back(nbytes_of(k, me) + 1);
    }
    for (int call = 0; call < kCalls; ++call) {
      MoveSizesCall asked{};
      asked.move.members = node.members(me);
      asked.move.nbytes = ~uint64_t{0};
      for (int k = 0; k < kMembers; ++k) {
        auto& source = sources[static_cast<size_t>(k)];
        for (uint64_t i = 0; i < nbytes_of(me, k); ++i) source[i] = byte_of(me, k, call, i);
        asked.move.source.at[k] = source.data();
        asked.move.dest.at[k] = dests[static_cast<size_t>(k)].data() + 1;  // where no vector begins
        asked.send_nbytes[k] = nbytes_of(me, k);
        asked.receive_nbytes[k] = nbytes_of(k, me);
      }
      node.launch([&asked] { kernels::run_move_sizes(asked, &emulation::shared<uint64_t>("most")); });
      for (int k = 0; k < kMembers; ++k)
        for (uint64_t i = 0; i < nbytes_of(k, me); ++i)
          ASSERT_EQ(dests[static_cast<size_t>(k)][i + 1], byte_of(k, me, call, i)) << "from " << k << ", byte " << i;
    }
  });
}

/// All-reduces in place, in two steps, of parts of `part` bytes; `reduce` runs one, and what a program does behind it.
void expect_sums_in_place(const Node& node, uint64_t part, uint64_t whole,
                          const std::function<void(const CombineCall& asked)>& reduce) {
  const auto value = [](int member, int call, uint64_t i) {
    return static_cast<float>((member + 1) * 1000 + call * 100 + static_cast<int>(i % 89));
  };
  Node::run([&](int me) {
    std::vector<float> vector(whole / sizeof(float));
    for (int call = 0; call < kCalls; ++call) {
      for (uint64_t i = 0; i < vector.size(); ++i) vector[i] = value(me, call, i);
      CombineCall asked{};
      asked.members = node.members(me);
      asked.op = ReduceOp::sum;
      asked.kind = TypeKind::f32;
      asked.two_steps = 1;
      asked.nbytes = part;
      asked.whole = vector.size() * sizeof(float);
      asked.dest = vector.data();
      for (int k = 0; k < kMembers; ++k)
        asked.source.at[k] = vector.data() + static_cast<uint64_t>(k) * part / sizeof(float);
      reduce(asked);
      for (uint64_t i = 0; i < vector.size(); ++i)
        ASSERT_EQ(vector[i], value(0, call, i) + value(1, call, i) + value(2, call, i)) << i;
    }
  });
}

TEST(CollPackets, SumsInPlaceAreEqualOnAllMembers) {
  const Node node;
  // The last member's part is shorter than the others', and ends within a unit.
  constexpr uint64_t kPart = 5 * kRound + 2 * kUnit, kWhole = kMembers * kPart - kRound - 52;
  expect_sums_in_place(node, kPart, kWhole, [&node](const CombineCall& asked) {
    node.launch([&asked] { kernels::run_combine<kUnitsOfThread>(asked); });
  });
}

/// Where one exchange is enough, kernels of one unit a thread and of several send equal packets: a member whose blocks
/// lie side by side runs another kernel than one whose blocks lie anywhere.
TEST(CollPackets, KernelsOfOneUnitTalkWithThoseOfSeveral) {
  const Node node;
  constexpr uint64_t kBytes = uint64_t{kBlocks} * kThreads * kUnit - 5;
  Node::run([&node](int me) {
    std::vector<unsigned char> source(kBytes), dest(kMembers * kBytes);
    std::vector<float> operand(kBytes / sizeof(float)), sum(operand.size());
    for (int call = 0; call < kCalls; ++call) {
      for (uint64_t i = 0; i < kBytes; ++i) source[i] = byte_of(me, 0, call, i);
      for (size_t i = 0; i < operand.size(); ++i)
        operand[i] = static_cast<float>(me * 100 + call * 10) + static_cast<float>(i);
      const bool side_by_side = (me + call) % 2 == 0;
      if (side_by_side) {
        const EvenMoveCall move{node.members(me), kBytes, {source.data(), 0}, {dest.data(), kBytes}};
        node.launch([&move] { kernels::run_move<1>(move); });
      } else {
        MoveCall move{node.members(me), kBytes, {}, {}};
        for (int k = 0; k < kMembers; ++k) {
          move.source.at[k] = source.data();
          move.dest.at[k] = dest.data() + static_cast<uint64_t>(k) * kBytes;
        }
        node.launch([&move] { kernels::run_move<kUnitsOfThread>(move); });
      }
      for (uint64_t i = 0; i < dest.size(); ++i)
        ASSERT_EQ(dest[i], byte_of(static_cast<int>(i / kBytes), 0, call, i % kBytes)) << i;
      const uint64_t nbytes = operand.size() * sizeof(float);
      if (side_by_side) {
        const EvenCombineCall combine{node.members(me), ReduceOp::sum, TypeKind::f32, Scaling::none,      0, 1,
                                      nbytes,           nbytes,        sum.data(),    {operand.data(), 0}};
        node.launch([&combine] { kernels::run_sum<1, float, false>(combine); });
      } else {
        CombineCall combine{
            node.members(me), ReduceOp::sum, TypeKind::f32, Scaling::none, 0, 1, nbytes, nbytes, sum.data(), {}};
        for (int k = 0; k < kMembers; ++k) combine.source.at[k] = operand.data();
        node.launch([&combine] { kernels::run_combine<kUnitsOfThread>(combine); });
      }
      for (size_t i = 0; i < sum.size(); ++i)
        ASSERT_EQ(sum[i], static_cast<float>(300 + call * 30) + static_cast<float>(3 * i)) << i;
    }
  });
}

/// The numbers of all blocks pass a multiple of ScratchLayout::kRenewal in the middle of a call.
TEST(CollPackets, AnAllGatherGoesOnWhileItsPlacesAreRenewed) {
  const Node node;
  constexpr uint64_t kBytes = 8 * kRound;
  Node::run([&node](int me) {
    for (uint32_t block = 0; block < kBlocks; ++block)
      *reinterpret_cast<uint64_t*>(node.scratch(me) + ScratchLayout(kMembers).number(block)) =
          ScratchLayout::kRenewal - 4;
    std::vector<unsigned char> source(kBytes), dest(kMembers * kBytes);
    for (int call = 0; call < kCalls; ++call) {
      for (uint64_t i = 0; i < kBytes; ++i) source[i] = byte_of(me, 0, call, i);
      const EvenMoveCall asked{node.members(me), kBytes, {source.data(), 0}, {dest.data(), kBytes}};
      node.launch([&asked] { kernels::run_move<kUnitsOfThread>(asked); });
      for (uint64_t i = 0; i < dest.size(); ++i)
        ASSERT_EQ(dest[i], byte_of(static_cast<int>(i / kBytes), 0, call, i % kBytes)) << i;
    }
  });
}

/// An all-to-all in place: a chunk is overwritten when it has been sent, and not before. More chunks than slots, the
/// last one shorter.
TEST(CollChunks, BlocksAreExchangedInPlaceAgainAndAgain) {
  const Node node;
  constexpr uint64_t kBytes = kBlocks * 5 * kChunk + 3 * kUnit + 5;
  Node::run([&node](int me) {
    std::vector<unsigned char> blocks(kMembers * kBytes);
    for (int call = 0; call < kCalls; ++call) {
      MoveCall asked{node.members(me), kBytes, {}, {}};
      for (int k = 0; k < kMembers; ++k) {
        unsigned char* const block = blocks.data() + static_cast<uint64_t>(k) * kBytes;
        for (uint64_t i = 0; i < kBytes; ++i) block[i] = byte_of(me, k, call, i);
        asked.source.at[k] = asked.dest.at[k] = block;
      }
      node.launch([&asked] { kernels::run_staged_move(asked, -1, emulation::shared<kernels::Halves>("halves")); });
      for (uint64_t i = 0; i < blocks.size(); ++i)
        ASSERT_EQ(blocks[i], byte_of(static_cast<int>(i / kBytes), me, call, i % kBytes)) << i;
    }
  });
}

/// Behind each sum a packet goes from each member to each, in the same blocks.
TEST(CollChunks, SumsInPlaceAreEqualOnAllMembers) {
  const Node node;
  constexpr uint64_t kPart = kBlocks * 4 * kChunk + 2 * kUnit, kWhole = kMembers * kPart - 3 * kChunk - 52;
  expect_sums_in_place(node, kPart, kWhole, [&node](const CombineCall& asked) {
    node.launch([&asked] { kernels::run_staged_combine(asked, emulation::shared<kernels::Halves>("halves")); });
    std::vector<unsigned char> units(kMembers * kUnit);
    const EvenMoveCall packet{asked.members, kUnit, {asked.dest, 0}, {units.data(), kUnit}};
    node.launch([&packet] { kernels::run_move<1>(packet); });
  });
}

/// The root changes from call to call. A member that is silent must not fall behind by more than the slots.
TEST(CollChunks, ABroadcastFromEachMemberInTurn) {
  const Node node;
  constexpr uint64_t kBytes = kBlocks * 6 * kChunk - 1;
  Node::run([&node](int me) {
    std::vector<unsigned char> source(kBytes), dest(kBytes);
    for (int call = 0; call < 2 * kMembers; ++call) {
      const int root = call % kMembers;
      for (uint64_t i = 0; i < kBytes; ++i) source[i] = byte_of(me, 0, call, i);
      MoveCall asked{node.members(me), kBytes, {}, {}};
      for (int k = 0; k < kMembers; ++k) {
        asked.source.at[k] = source.data();
        asked.dest.at[k] = dest.data();
      }
      node.launch([&] { kernels::run_staged_move(asked, root, emulation::shared<kernels::Halves>("halves")); });
      for (uint64_t i = 0; i < kBytes; ++i) ASSERT_EQ(dest[i], byte_of(root, 0, call, i)) << i;
    }
  });
}

/// A member that does not come: the others end, and name it.
TEST(CollChunks, AMemberThatDoesNotComeEndsTheOthers) {
  Node node;
  FaultRecord record{};
  uint32_t taken = 0;
  node.expect_fault(&record, &taken);
  std::vector<std::thread> members;
  for (int me = 0; me < kMembers - 1; ++me)
    members.emplace_back([&node, me] {
      std::vector<unsigned char> source(kChunk), dest(kMembers * kChunk);
      MoveCall asked{node.members(me), kChunk, {}, {}};
      for (int k = 0; k < kMembers; ++k) {
        asked.source.at[k] = source.data();
        asked.dest.at[k] = dest.data() + static_cast<uint64_t>(k) * kChunk;
      }
      node.launch([&asked] { kernels::run_staged_move(asked, -1, emulation::shared<kernels::Halves>("halves")); });
    });
  for (std::thread& member : members) member.join();
  EXPECT_EQ(record.pe, kMembers - 1 + Node::kFirstPe);
}

}  // namespace
}  // namespace railshmem::cuda
