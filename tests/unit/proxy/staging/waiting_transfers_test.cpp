// SPDX-License-Identifier: BSD-3-Clause
// The lines in which staged transfers wait for slots.
#include "src/proxy/staging/waiting_transfers.h"

#include <gtest/gtest.h>

#include <vector>

namespace railshmem {
namespace {

using Verdict = WaitingTransfers::Verdict;

constexpr size_t kMost = 4;
constexpr auto kNoOtherLine = [](const WaitingTransfer&) { return PieceTakes::small; };

struct Lines {
  OpCell cells[kMost + 1];
  WaitingTransfers waiting{kMost};

  /// Numbers of the cells in one line, the oldest first.
  std::vector<long> in(PieceTakes kind) {
    std::vector<long> found;
    waiting.walk(
        kind,
        [&](WaitingTransfer& w) {
          found.push_back(w.whole - cells);
          return Verdict::stays;
        },
        kNoOtherLine);
    return found;
  }
  void take(PieceTakes kind, long cell) {
    waiting.walk(
        kind, [&](WaitingTransfer& w) { return w.whole == &cells[cell] ? Verdict::done : Verdict::stays; },
        kNoOtherLine);
  }
};

TEST(WaitingTransfers, KeepsTheOrderOfEachKind) {
  Lines lines;
  lines.waiting.add(PieceTakes::large, lines.cells[0]);
  lines.waiting.add(PieceTakes::small, lines.cells[1]);
  lines.waiting.add(PieceTakes::large, lines.cells[2]);
  EXPECT_EQ(lines.in(PieceTakes::large), (std::vector<long>{0, 2}));
  EXPECT_EQ(lines.in(PieceTakes::small), (std::vector<long>{1}));
  EXPECT_TRUE(lines.in(PieceTakes::medium).empty());
}

TEST(WaitingTransfers, LetsAnyOfALineGo) {
  for (long gone = 0; gone < 3; ++gone) {
    Lines lines;
    for (int i = 0; i < 3; ++i) lines.waiting.add(PieceTakes::medium, lines.cells[i]);
    lines.take(PieceTakes::medium, gone);
    std::vector<long> left{0, 1, 2};
    left.erase(left.begin() + gone);
    EXPECT_EQ(lines.in(PieceTakes::medium), left);
    lines.waiting.add(PieceTakes::medium, lines.cells[3]);
    left.push_back(3);
    EXPECT_EQ(lines.in(PieceTakes::medium), left);
  }
}

TEST(WaitingTransfers, TakesOnlySoMany) {
  Lines lines;
  for (size_t i = 0; i < kMost; ++i) {
    EXPECT_FALSE(lines.waiting.full());
    lines.waiting.add(i % 2 == 0 ? PieceTakes::small : PieceTakes::large, lines.cells[i]);
  }
  EXPECT_TRUE(lines.waiting.full());
  lines.take(PieceTakes::large, 3);
  EXPECT_FALSE(lines.waiting.full());
  lines.waiting.add(PieceTakes::small, lines.cells[kMost]);
  EXPECT_TRUE(lines.waiting.full());
  EXPECT_EQ(lines.in(PieceTakes::small), (std::vector<long>{0, 2, 4}));
  EXPECT_EQ(lines.in(PieceTakes::large), (std::vector<long>{1}));
}

TEST(WaitingTransfers, MovesToTheLineOfItsNextPiece) {
  Lines lines;
  for (int i = 0; i < 3; ++i) lines.waiting.add(PieceTakes::large, lines.cells[i]);
  lines.waiting.add(PieceTakes::medium, lines.cells[3]);
  lines.waiting.walk(
      PieceTakes::large,
      [&](WaitingTransfer& w) {
        w.issued = 7;
        return w.whole == &lines.cells[2] ? Verdict::stays : Verdict::moves;
      },
      [](const WaitingTransfer& w) { return w.issued == 7 ? PieceTakes::medium : PieceTakes::small; });
  EXPECT_EQ(lines.in(PieceTakes::large), (std::vector<long>{2}));
  EXPECT_EQ(lines.in(PieceTakes::medium), (std::vector<long>{3, 0, 1}));
}

TEST(WaitingTransfers, LooksNoFurtherWhenNothingCanGo) {
  Lines lines;
  for (int i = 0; i < 3; ++i) lines.waiting.add(PieceTakes::small, lines.cells[i]);
  int looks = 0;
  lines.waiting.walk(
      PieceTakes::small,
      [&](WaitingTransfer&) {
        ++looks;
        return Verdict::stop;
      },
      kNoOtherLine);
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(lines.in(PieceTakes::small).size(), 3u);
}

TEST(WaitingTransfers, WhatComesDuringAWalkIsLookedAtInTheNext) {
  Lines lines;
  lines.waiting.add(PieceTakes::small, lines.cells[0]);
  int looks = 0;
  lines.waiting.walk(
      PieceTakes::small,
      [&](WaitingTransfer&) {
        if (++looks == 1) lines.waiting.add(PieceTakes::small, lines.cells[1]);
        return Verdict::done;
      },
      kNoOtherLine);
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(lines.in(PieceTakes::small), (std::vector<long>{1}));
}

TEST(WaitingTransfers, ClearForgetsAll) {
  Lines lines;
  for (size_t i = 0; i < kMost; ++i) lines.waiting.add(PieceTakes::large, lines.cells[i]);
  lines.waiting.clear();
  EXPECT_TRUE(lines.in(PieceTakes::large).empty());
  for (size_t i = 0; i < kMost; ++i) lines.waiting.add(PieceTakes::large, lines.cells[i]);
  EXPECT_EQ(lines.in(PieceTakes::large).size(), kMost);
}

}  // namespace
}  // namespace railshmem
