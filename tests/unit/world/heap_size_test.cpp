// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/heap_size.h"

#include <gtest/gtest.h>

namespace railshmem {
namespace {

constexpr size_t kOneMiB = 1u << 20;
constexpr size_t kOneGiB = size_t{1} << 30;

Env automatic() {
  Env env;
  env.symmetric_size = kAutomaticSize;
  return env;
}

std::vector<Identity> pes(int n, uint64_t memory, uint64_t host = 1) {
  Identity one{};
  one.host = host;
  one.memory_for_heaps = memory;
  return std::vector<Identity>(static_cast<size_t>(n), one);
}

TEST(HeapSize, WhatTheProgramAsksForIsTaken) {
  Env env;
  env.symmetric_size = 3 * kOneMiB;
  EXPECT_EQ(choose_heap_size(env, pes(2, 64 * kOneGiB), false).nbytes, 3 * kOneMiB);
  EXPECT_EQ(choose_heap_size(env, pes(2, 64 * kOneGiB), true).nbytes, 3 * kOneMiB);
}

TEST(HeapSize, HalfOfTheMemoryIsDividedByThePes) {
  const HeapSize size = choose_heap_size(automatic(), pes(8, 64 * kOneGiB), false);
  EXPECT_EQ(size.nbytes, 4 * kOneGiB);
  EXPECT_EQ(size.reason, "SHMEM_SYMMETRIC_SIZE auto: half of 64 GiB for 8 PEs");
  // Not every machine has a round number.
  EXPECT_EQ(choose_heap_size(automatic(), pes(2, 8 * kOneGiB - 12345), false).nbytes, 2 * kOneGiB - 64 * kOneMiB);
}

TEST(HeapSize, HasBounds) {
  EXPECT_EQ(choose_heap_size(automatic(), pes(64, 16 * kOneGiB), false).nbytes, 512 * kOneMiB);
  EXPECT_EQ(choose_heap_size(automatic(), pes(1, 0), false).nbytes, 512 * kOneMiB);
  EXPECT_EQ(choose_heap_size(automatic(), pes(2, 2048 * kOneGiB), false).nbytes, 16 * kOneGiB);
  EXPECT_EQ(choose_heap_size(automatic(), pes(2, UINT64_MAX), false).nbytes, 16 * kOneGiB);
}

TEST(HeapSize, TheLeastOfThePesIsEverybodys) {
  std::vector<Identity> mixed = pes(4, 64 * kOneGiB);
  mixed[2].memory_for_heaps = 8 * kOneGiB;  // a control group of its own
  EXPECT_EQ(choose_heap_size(automatic(), mixed, false).nbytes, kOneGiB);
}

TEST(HeapSize, NetworksPinWhatTheyAreGiven) {
  EXPECT_EQ(choose_heap_size(automatic(), pes(2, 2048 * kOneGiB), true).nbytes, 512 * kOneMiB);
}

}  // namespace
}  // namespace railshmem
