// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/planner.h"

#include <gtest/gtest.h>

namespace railshmem::overlap {
namespace {

constexpr size_t kTwoBytes = 2;

TEST(OverlapPlanner, PiecesCoverTheRowsOnce) {
  for (size_t rows = 1; rows < 700; ++rows)
    for (const size_t pieces : {1u, 2u, 3u, 7u, 64u}) {
      const Cut cut = cut_rows(rows, pieces);
      ASSERT_FALSE(cut.whole);
      ASSERT_GE(cut.piece_rows * cut.pieces, rows);
      ASSERT_LT(cut.piece_rows * (cut.pieces - 1), rows) << "the last piece is empty";
      ASSERT_LE(cut.pieces, pieces);
    }
}

TEST(OverlapPlanner, LongPiecesAreWholeTiles) {
  EXPECT_EQ(cut_rows(16384, 4).piece_rows, 4096u);
  EXPECT_EQ(cut_rows(1000, 3).piece_rows, 384u);
  EXPECT_EQ(cut_rows(100, 3).piece_rows, 34u);
}

TEST(OverlapPlanner, NoPiecesMeansWhole) {
  EXPECT_TRUE(cut_rows(1000, 0).whole);
  EXPECT_EQ(cut_rows(1000, 0).pieces, 1u);
}

TEST(OverlapPlanner, ProductsOfLessThanAWaveAreNotCut) {
  EXPECT_EQ(suggested_pieces(Way::gather, {2, 1, 256, 4096, 8192, kTwoBytes}), 0u);
  EXPECT_EQ(suggested_pieces(Way::scatter, {2, 1, 256, 4096, 8192, kTwoBytes}), 0u);
  EXPECT_EQ(suggested_pieces(Way::gather, {8, 1, 2048, 3584, 8192, kTwoBytes}), 0u);
}

TEST(OverlapPlanner, AGatherIsCutWhereCutProductsAreAsManyWavesAsTheWholeOne) {
  // 128 tiles of a member, 512 in all: four waves either way. Four H200: 440 us, whole 617.
  EXPECT_EQ(suggested_pieces(Way::gather, {4, 1, 4096, 4096, 8192, kTwoBytes}), 1u);
  // 96 tiles of a member: two waves either way. Two H200: 163 us, whole 193.
  EXPECT_EQ(suggested_pieces(Way::gather, {2, 1, 1536, 4096, 8192, kTwoBytes}), 1u);
  // There sums get in the way: 204 us, whole 175.
  EXPECT_EQ(suggested_pieces(Way::scatter, {2, 1, 1536, 4096, 8192, kTwoBytes}), 0u);
}

TEST(OverlapPlanner, OnePieceWhereOwnRowsHideTheFirstShard) {
  EXPECT_EQ(suggested_pieces(Way::gather, {2, 1, 32768, 8192, 16384, kTwoBytes}), 1u);
  EXPECT_EQ(suggested_pieces(Way::gather, {2, 1, 8192, 28672, 8192, kTwoBytes}), 1u);
}

TEST(OverlapPlanner, MorePiecesWhereTheShardComesLaterThanOwnRowsTake) {
  const Shape narrow{2, 1, 65536, 1024, 16384, kTwoBytes};
  Shape far = narrow;
  far.nodes = 2;
  EXPECT_GT(suggested_pieces(Way::gather, narrow), 1u);
  EXPECT_GE(suggested_pieces(Way::gather, far), suggested_pieces(Way::gather, narrow));
}

TEST(OverlapPlanner, AScatterIsCutSoThatOwnRowsNeverWait) {
  EXPECT_EQ(suggested_pieces(Way::scatter, {2, 1, 8192, 8192, 4096, kTwoBytes}), 2u);
  EXPECT_EQ(suggested_pieces(Way::scatter, {2, 1, 4096, 4096, 4096, kTwoBytes}), 2u);
}

TEST(OverlapPlanner, AScatterIsNotCutWhereEachPieceWouldTakeAWave) {
  // 144 tiles: two waves at once, and two of one piece each; three pieces would take three.
  EXPECT_LE(suggested_pieces(Way::scatter, {2, 1, 2304, 4096, 65536, kTwoBytes}), 2u);
  // Bytes that take longer than the products: many pieces, so that the link is never idle.
  EXPECT_GT(suggested_pieces(Way::scatter, {2, 1, 65536, 8192, 512, kTwoBytes}), 2u);
}

TEST(OverlapPlanner, SumsInAContextOfTheirOwnAreNotCutBetweenNodes) {
  const Shape program{2, 2, 8192, 8192, 8192, kTwoBytes};
  Shape own = program;
  own.own_context = true;
  EXPECT_GE(suggested_pieces(Way::scatter, program), 1u);
  EXPECT_EQ(suggested_pieces(Way::scatter, own), 0u);
  EXPECT_EQ(suggested_pieces(Way::gather, own), suggested_pieces(Way::gather, program));
  own.nodes = 1;
  EXPECT_GE(suggested_pieces(Way::scatter, own), 1u);
}

TEST(OverlapPlanner, LongProductsTakeTurnsOnTwoStreams) {
  const Shape long_one{2, 1, 32768, 8192, 8192, kTwoBytes};
  EXPECT_EQ(suggested_pieces(Way::scatter, long_one), 4u);
  EXPECT_TRUE(take_turns(long_one, cut_rows(16384, 4)));
  EXPECT_FALSE(take_turns(long_one, cut_rows(16384, 16))) << "pieces of 200 us";
  EXPECT_FALSE(take_turns(long_one, cut_rows(16384, 0))) << "one product of all rows";
  EXPECT_FALSE(take_turns({2, 1, 4096, 4096, 4096, kTwoBytes}, cut_rows(2048, 2)));
  EXPECT_FALSE(take_turns({2, 2, 32768, 8192, 8192, kTwoBytes}, cut_rows(16384, 4))) << "between nodes";
}

TEST(OverlapPlanner, TheUserSaysHowManyStreams) {
  const Cut cut = cut_rows(16384, 4);
  EXPECT_FALSE(take_turns({2, 1, 32768, 8192, 8192, kTwoBytes, 1}, cut));
  EXPECT_EQ(suggested_pieces(Way::scatter, {2, 1, 32768, 8192, 8192, kTwoBytes, 1}), 2u);
  EXPECT_TRUE(take_turns({2, 1, 64, 64, 64, kTwoBytes, 2}, cut_rows(32, 2)));
  EXPECT_FALSE(take_turns({1, 1, 64, 64, 64, kTwoBytes, 2}, cut_rows(32, 2))) << "a PE alone";
}

TEST(OverlapPlanner, AloneThereIsNothingToHide) {
  EXPECT_EQ(suggested_pieces(Way::gather, {1, 1, 64, 64, 64, kTwoBytes}), 1u);
}

TEST(OverlapPlanner, NeverMorePiecesThanCounters) {
  for (size_t m = 2; m < (size_t{1} << 24); m *= 3)
    for (const int nodes : {1, 2})
      for (const size_t n : {64u, 1024u, 16384u}) {
        EXPECT_LE(suggested_pieces(Way::gather, {2, nodes, m / 2 * 2, n, 65536, kTwoBytes}), kMostPieces);
        EXPECT_LE(suggested_pieces(Way::scatter, {2, nodes, m / 2 * 2, n, 65536, kTwoBytes}), kMostPieces);
      }
}

}  // namespace
}  // namespace railshmem::overlap
