// SPDX-License-Identifier: BSD-3-Clause
// Targets that map the slots of the source. Data goes between the source's slot and the final memory, and over no rail.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/staged_rig.h"

namespace railshmem::test {
namespace {

StagingTerms area_terms(const StagedRig& rig) {
  StagingTerms terms;
  rig.staging->describe_to(terms);
  return terms;
}

/// PE 2, whose slots PE 1 maps.
struct Neighbours {
  static constexpr uint64_t kData = 512;  ///< offsets in the heap
  static constexpr uint64_t kSignalled = 8;
  static constexpr uint32_t kPiece = 5000;
  static constexpr int kSource = 2, kTarget = 1;

  Neighbours() : source(Port::proxy, kSource), target(Port::proxy, kTarget) {
    std::vector<StagingTerms> by_pe(4);
    by_pe[kSource] = area_terms(source);
    by_pe[kTarget] = area_terms(target);
    target.staging->meet_neighbours(by_pe, kTarget);
    std::memset(target.base(), 0, StagedRig::kHeap);
    slot = source.staging->source(Port::host).pool(SlotKind::large).take();
    at_slot = source.staging->source(Port::host).at(slot);
    request.header = {
        MessageKind::staged_put, 0, 8, Answer::acknowledge, Port::host, SegmentId::heap, 0, kSource, 7, 0, 0};
    request.offset = kData;
    request.slot = slot;
    request.nbytes = kPiece;
  }
  int reads() const { return target.rails[0].count('r') + target.rails[1].count('r'); }
  int writes() const { return target.rails[0].count('w') + target.rails[1].count('w'); }
  size_t answers(MessageKind kind) { return target.messages(0, kind).size() + target.messages(1, kind).size(); }

  StagedRig source, target;
  uint64_t slot;
  std::byte* at_slot;
  StagedMessage request{};
};

TEST(NeighbourAreas, APutIsStoredFromTheSlotOfTheSource) {
  Neighbours both;
  for (size_t i = 0; i < both.kPiece; ++i) both.at_slot[i] = static_cast<std::byte>(i * 13 + 5);
  both.request.brings_signal = true;
  both.request.signal_offset = both.kSignalled;
  both.request.signal_value = 17;
  both.request.signal_op = SignalOp::set;
  both.target.rails[0].deliver(both.request);
  const auto is_stored = [&] { return std::memcmp(both.target.base() + both.kData, both.at_slot, both.kPiece) == 0; };
  for (int i = 0; both.answers(MessageKind::acknowledge) == 0 && i < 1000; ++i) {
    EXPECT_EQ(both.target.heap[1], is_stored() ? 17u : 0u);
    both.target.turn();
  }
  EXPECT_EQ(both.answers(MessageKind::acknowledge), 1u);
  EXPECT_EQ(both.target.heap[1], 17u);
  EXPECT_EQ(both.reads(), 0);
}

TEST(NeighbourAreas, AGetIsCopiedToTheSlotOfTheSource) {
  Neighbours both;
  for (size_t i = 0; i < both.kPiece; ++i) both.target.base()[both.kData + i] = static_cast<std::byte>(i * 7 + 1);
  both.request.header.kind = MessageKind::staged_get;
  both.request.header.answer = Answer::reply;
  both.target.rails[0].deliver(both.request);
  both.target.until([&] { return both.answers(MessageKind::reply) > 0; });
  EXPECT_EQ(std::memcmp(both.at_slot, both.target.base() + both.kData, both.kPiece), 0);
  EXPECT_EQ(both.writes(), 0);
}

/// What is outside the mapped area is for the rail, which refuses it as it does without neighbours.
TEST(NeighbourAreas, ASlotOutsideTheAreaIsReadOverTheRail) {
  Neighbours both;
  both.request.slot = area_terms(both.source).area_nbytes - both.kPiece + 1;
  both.target.rails[0].deliver(both.request);
  both.target.until([&] { return both.reads() > 0; });
  EXPECT_EQ(both.answers(MessageKind::acknowledge), 0u);
}

/// Where the size of the source's area is known, no rail is asked to read beyond it: that would end this PE.
TEST(NeighbourAreas, ASlotThatTheSourceCannotHaveIsDropped) {
  Neighbours both;
  std::vector<StagingTerms> by_pe(4);
  by_pe[Neighbours::kSource] = area_terms(both.source);
  both.target.staging->learn_areas(by_pe);
  both.request.slot = by_pe[Neighbours::kSource].area_nbytes - both.kPiece + 1;
  both.target.rails[0].deliver(both.request);
  both.target.turns();
  EXPECT_EQ(both.reads(), 0);
  EXPECT_EQ(both.target.initiator->rails().counts(0).refused, 1u);
  both.request.slot -= 1;
  both.target.rails[0].deliver(both.request);
  both.target.until([&] { return both.answers(MessageKind::acknowledge) > 0; });
}

TEST(NeighbourAreas, APeWhoseFileCannotBeOpenedIsReadOverTheRail) {
  StagedRig source(Port::proxy, Neighbours::kSource), target(Port::proxy, Neighbours::kTarget);
  std::vector<StagingTerms> by_pe(4);
  by_pe[Neighbours::kSource] = area_terms(source);
  by_pe[Neighbours::kSource].area.inode += 1;
  target.staging->meet_neighbours(by_pe, Neighbours::kTarget);
  EXPECT_EQ(target.staging->target().at_neighbour(Neighbours::kSource, 0, 1), nullptr);
  EXPECT_EQ(target.staging->target().at_neighbour(3, 0, 1), nullptr) << "has no area";
  EXPECT_NE(target.staging->describe().find("whose slots are mapped: 0"), std::string::npos);
}

}  // namespace
}  // namespace railshmem::test
