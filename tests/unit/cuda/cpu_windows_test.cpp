// SPDX-License-Identifier: BSD-3-Clause
// Windows of the CPU on GPU memory: what goes through them, and what becomes of those that cannot be opened.
#include "src/cuda/cpu_windows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "tests/support/copier_rig.h"

namespace railshmem::cuda {
namespace {

uint64_t word_at(const std::byte* place) {
  uint64_t word;
  std::memcpy(&word, place, sizeof word);
  return word;
}

/// Calls of the driver that move or store bytes.
int driver_moves(const CopierRig& rig) {
  return rig.fake.calls("cuMemcpyAsync") + rig.fake.calls("cuMemcpyBatchAsync_v2") +
         rig.fake.calls("cuStreamBatchMemOp_v2");
}

TEST(CpuWindows, ShortDataSignalsAndAtomicsNeedNoCallOfTheDriver) {
  CopierRig rig(CopierCase{300, true});
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  const int before = driver_moves(rig);
  for (const size_t nbytes : {size_t{1}, size_t{4}, size_t{8}, size_t{9}, size_t{100}, size_t{4096}}) {
    for (size_t i = 0; i < nbytes; ++i) rig.bounce[i] = static_cast<std::byte>(i + nbytes);
    EXPECT_TRUE(copier->finished(copier->start(rig.heap + 64, rig.bounce.data(), nbytes))) << nbytes;
    EXPECT_EQ(std::memcmp(rig.heap + 64, rig.bounce.data(), nbytes), 0);
    EXPECT_TRUE(
        copier->finished(copier->start_then_set(rig.heap + 8192, rig.bounce.data(), nbytes, rig.heap + 8, nbytes)));
    EXPECT_EQ(std::memcmp(rig.heap + 8192, rig.bounce.data(), nbytes), 0);
    EXPECT_EQ(word_at(rig.heap + 8), nbytes);
  }
  EXPECT_TRUE(copier->finished(copier->start(rig.bounce.data() + 16, rig.heap + 8, 8)));
  EXPECT_EQ(word_at(rig.bounce.data() + 16), 4096u);
  EXPECT_EQ(copier->amo(rig.heap + 8, 8, AmoOp::fetch_add, 4, 0), 4096u);
  EXPECT_EQ(copier->amo(rig.heap + 8, 4, AmoOp::compare_swap, 7, 4100), 4100u);
  EXPECT_EQ(word_at(rig.heap + 8), 7u);
  EXPECT_EQ(driver_moves(rig), before);
}

TEST(CpuWindows, LongDataGoesByCopyEnginesWithItsSignal) {
  CopierRig rig(CopierCase{300, true});
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  const int before = driver_moves(rig);
  std::memset(rig.bounce.data(), 5, 100'000);
  const Copier::Ticket ticket = copier->start_then_set(rig.heap + 4096, rig.bounce.data(), 100'000, rig.heap + 8, 1);
  const uint64_t began = now_ns();
  while (word_at(rig.heap + 8) == 0) {
    copier->finished(ticket);
    ASSERT_LT(now_ns() - began, 20'000'000'000u);
  }
  EXPECT_EQ(rig.heap[4096 + 99'999], std::byte{5}) << "the word is there before its bytes";
  finish(*copier, ticket);
  EXPECT_GT(driver_moves(rig), before);
}

/// The first store is behind long data in a stream that is late. The second one has no data.
TEST(CpuWindows, AStoreDoesNotPassAnEarlierOneToTheWord) {
  for (uint64_t round = 1; round < 50; ++round) {
    CopierRig rig(CopierCase{300, true});
    const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
    const Copier::Ticket first =
        copier->start_then_set(rig.heap + 4096, rig.bounce.data(), 100'000, rig.heap + 8, round);
    const Copier::Ticket second = copier->start_then_set(nullptr, nullptr, 0, rig.heap + 8, 1000 + round);
    finish(*copier, first);
    finish(*copier, second);
    ASSERT_EQ(word_at(rig.heap + 8), 1000 + round);
    copier->start_then_set(rig.heap + 4096, rig.bounce.data(), 100'000, rig.heap + 8, round);
    ASSERT_EQ(copier->amo(rig.heap + 8, 8, AmoOp::fetch_add, 1, 0), round) << "behind the store";
  }
}

TEST(CpuWindows, WhatLiesOutsideGoesByCopyEngines) {
  CopierRig rig(CopierCase{0, true});
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  std::byte* const theirs = rig.fake.allocate(4096);
  EXPECT_EQ(rig.windows->find(theirs, 8), nullptr);
  EXPECT_EQ(rig.windows->find(rig.heap + kHeapNbytes - 4, 8), nullptr) << "runs over the end";
  EXPECT_NE(rig.windows->find(rig.heap + kHeapNbytes - 8, 8), nullptr);
  const int before = driver_moves(rig);
  std::memset(rig.bounce.data(), 3, 64);
  finish(*copier, copier->start(theirs, rig.bounce.data(), 64));
  EXPECT_GT(driver_moves(rig), before);
  rig.fake.release(theirs);
}

struct Trouble {
  FakeGdr how;
  const char* message;
};

TEST(CpuWindows, TroubleIsTold) {
  for (const auto& [how, message] :
       {Trouble{FakeGdr::no_module, "gdr_open() fails: load GDRCopy's kernel module gdrdrv"},
        Trouble{FakeGdr::no_room, "gdr_pin_buffer of 2097152 bytes of GPU memory gives 12"},
        Trouble{FakeGdr::no_window, "gdr_map of 2097152 bytes of GPU memory gives 11"},
        Trouble{FakeGdr::other_memory, "the CPU's window does not show the GPU's memory"}}) {
    const int leaks = fake_gdr_leaks();
    set_fake_gdr(how);
    std::string told;
    try {
      CopierRig rig(CopierCase{0, true});
    } catch (const Error& e) {
      told = e.what();
    }
    set_fake_gdr(FakeGdr::works);
    EXPECT_NE(told.find(message), std::string::npos) << told;
    EXPECT_NE(told.find("SHMEM_GDRCOPY"), std::string::npos);
    EXPECT_EQ(fake_gdr_leaks(), leaks);
  }
}

TEST(CpuWindows, AllIsGivenBack) {
  const int leaks = fake_gdr_leaks();
  {
    CopierRig rig(CopierCase{0, true});
    EXPECT_GT(fake_gdr_leaks(), leaks);
    EXPECT_EQ(rig.windows->nbytes(), kHeapNbytes);
  }
  EXPECT_EQ(fake_gdr_leaks(), leaks);
}

}  // namespace
}  // namespace railshmem::cuda
