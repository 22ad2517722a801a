// SPDX-License-Identifier: BSD-3-Clause
// The copier of GPU memory, with copies that happen at once and with such that are late and overtake each other.
#include "src/cuda/cuda_copier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/copier_rig.h"

namespace railshmem::cuda {
namespace {

class CudaCopierTest : public ::testing::TestWithParam<CopierCase> {};
INSTANTIATE_TEST_SUITE_P(Late, CudaCopierTest,
                         ::testing::Values(CopierCase{0}, CopierCase{300}, CopierCase{0, true}, CopierCase{300, true}),
                         [](const auto& how) {
                           return std::string(how.param.late_us == 0 ? "AtOnce" : "Late") +
                                  (how.param.window ? "WithWindow" : "");
                         });

TEST_P(CudaCopierTest, BytesOfAllSizesArriveBothWays) {
  CopierRig rig(GetParam());
  {
    const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
    std::mt19937 random(7);
    for (const size_t nbytes : {size_t{1}, size_t{4}, size_t{8}, size_t{9}, size_t{4096}, size_t{32 << 10},
                                size_t{(32 << 10) + 1}, kHeapNbytes}) {
      const auto seed = static_cast<int>(random() % 200);
      std::memset(rig.bounce.data(), seed, nbytes);
      finish(*copier, copier->start(rig.heap, rig.bounce.data(), nbytes));
      EXPECT_EQ(std::count(rig.heap, rig.heap + nbytes, static_cast<std::byte>(seed)), static_cast<ptrdiff_t>(nbytes));
      std::memset(rig.bounce.data(), 255, nbytes);
      finish(*copier, copier->start(rig.bounce.data(), rig.heap, nbytes));
      EXPECT_EQ(std::count(rig.bounce.begin(), rig.bounce.begin() + static_cast<ptrdiff_t>(nbytes),
                           static_cast<std::byte>(seed)),
                static_cast<ptrdiff_t>(nbytes));
    }
  }
  EXPECT_EQ(rig.fake.leaks(), "1 mapping, 1 reservation, 1 retained context");
}

TEST_P(CudaCopierTest, ManyCopiesUnderWayEndEachOnItsOwn) {
  CopierRig rig(GetParam());
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  std::mt19937 random(11);
  struct Under {
    Copier::Ticket ticket;
    size_t slot;
  };
  constexpr size_t kSlots = 256;
  constexpr size_t kSlot = kHeapNbytes / kSlots;
  std::vector<Under> under_way;
  std::vector<uint64_t> wanted(kSlots);
  const auto word_at = [&](std::byte* base, size_t slot) { return reinterpret_cast<uint64_t*>(base + slot * kSlot); };
  for (uint64_t turn = 0; turn < 20; ++turn) {
    for (size_t slot = 0; slot < kSlots; ++slot) {
      wanted[slot] = turn * kSlots + slot + 1;
      *word_at(rig.bounce.data(), slot) = wanted[slot];
      const size_t nbytes = random() % 3 == 0 ? kSlot : 8;
      under_way.push_back({copier->start(rig.heap + slot * kSlot, rig.bounce.data() + slot * kSlot, nbytes), slot});
    }
    const uint64_t began = now_ns();
    while (!under_way.empty()) {
      const size_t i = random() % under_way.size();
      ASSERT_LT(now_ns() - began, 20'000'000'000u);
      if (!copier->finished(under_way[i].ticket)) continue;
      ASSERT_EQ(*word_at(rig.heap, under_way[i].slot), wanted[under_way[i].slot]) << "finished, and not there";
      under_way[i] = under_way.back();
      under_way.pop_back();
    }
  }
}

TEST_P(CudaCopierTest, TellsWhatOnlyCopiesReach) {
  CopierRig rig(GetParam());
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  std::byte* const theirs = rig.fake.allocate(4096);
  EXPECT_TRUE(copier->alone_reaches(theirs + 4095));
  EXPECT_TRUE(copier->alone_reaches(rig.heap));
  EXPECT_FALSE(copier->alone_reaches(rig.bounce.data()));
  EXPECT_FALSE(copier->alone_reaches(reinterpret_cast<std::byte*>(&rig)));
  rig.fake.release(theirs);
  EXPECT_FALSE(copier->alone_reaches(theirs)) << "freed: it may be the host's next";
}

TEST_P(CudaCopierTest, AmosReadComputeAndWrite) {
  CopierRig rig(GetParam());
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  std::byte* const word = rig.heap + 64;
  auto* const wide = reinterpret_cast<uint64_t*>(word);
  auto* const narrow = reinterpret_cast<uint32_t*>(word);
  EXPECT_EQ(copier->amo(word, 8, AmoOp::set, 40, 0), 0u);
  EXPECT_EQ(*wide, 40u) << "there when the call returns";
  EXPECT_EQ(copier->amo(word, 8, AmoOp::fetch_add, 2, 0), 40u);
  EXPECT_EQ(copier->amo(word, 8, AmoOp::fetch, 0, 0), 42u);
  EXPECT_EQ(copier->amo(word, 8, AmoOp::compare_swap, 50, 41), 42u);
  EXPECT_EQ(*wide, 42u);
  EXPECT_EQ(copier->amo(word, 8, AmoOp::compare_swap, 50, 42), 42u);
  EXPECT_EQ(copier->amo(word, 8, AmoOp::swap, 0xf0, 0), 50u);
  EXPECT_EQ(copier->amo(word, 8, AmoOp::fetch_or, 0x0f, 0), 0xf0u);
  EXPECT_EQ(copier->amo(word, 8, AmoOp::fetch_and, 0x3c, 0), 0xffu);
  EXPECT_EQ(copier->amo(word, 8, AmoOp::fetch_xor, 0xff, 0), 0x3cu);
  EXPECT_EQ(*wide, 0xc3u);
  *wide = 0x1111111122222222u;
  EXPECT_EQ(copier->amo(word, 4, AmoOp::fetch_add, 0xf0000000u, 0), 0x22222222u);
  EXPECT_EQ(*narrow, 0x12222222u);
  EXPECT_EQ(copier->amo(word, 4, AmoOp::set, 7, 0), 0u);
  EXPECT_EQ(*wide, 0x1111111100000007u) << "its neighbour is untouched";
}

TEST_P(CudaCopierTest, AWordThatSomebodyPollsAppearsWhole) {
  CopierRig rig(GetParam());
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  auto* const word = reinterpret_cast<uint64_t*>(rig.heap + 128);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> torn{0};
  std::thread reader([&] {
    while (!stop) {
      const uint64_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
      if ((seen >> 32) != (seen & 0xffffffffu)) ++torn;
    }
  });
  auto* const source = reinterpret_cast<uint64_t*>(rig.bounce.data());
  for (uint64_t i = 0; i < 500; ++i) {
    *source = i << 32 | i;
    finish(*copier, copier->start(reinterpret_cast<std::byte*>(word), rig.bounce.data(), 8));
    copier->amo(reinterpret_cast<std::byte*>(word), 8, AmoOp::set, ~uint64_t{0}, 0);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0u);
}

TEST_P(CudaCopierTest, UsersBuffersMayBeOfAnyKind) {
  CopierRig rig(GetParam());
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  std::vector<std::byte> pageable(100'000, std::byte{3});
  std::byte* const theirs = rig.fake.allocate(100'000);
  const int before = rig.fake.calls("cuMemcpyAsync");
  finish(*copier, copier->start(rig.bounce.data(), pageable.data(), 100'000));  // the host's on both sides
  EXPECT_EQ(rig.fake.calls("cuMemcpyAsync"), before);
  EXPECT_EQ(rig.bounce[99'999], std::byte{3});
  finish(*copier, copier->start(theirs, rig.bounce.data(), 100'000));
  EXPECT_EQ(theirs[99'999], std::byte{3});
  finish(*copier, copier->start(rig.heap, pageable.data(), 100'000));
  EXPECT_EQ(rig.heap[99'999], std::byte{3});
  std::fill(theirs, theirs + 100'000, std::byte{4});
  finish(*copier, copier->start(pageable.data(), theirs, 100'000));
  EXPECT_EQ(pageable[99'999], std::byte{4});
  finish(*copier, copier->start(theirs, rig.heap, 100'000));  // between device buffers
  EXPECT_EQ(theirs[99'999], std::byte{3});
  finish(*copier, copier->start(rig.heap, nullptr, 0));
  rig.fake.release(theirs);
}

TEST_P(CudaCopierTest, ThreadsTakeTurnsWithContextsOfTheirOwn) {
  CopierRig rig(GetParam());
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  const auto turns = [&](uint64_t base) {
    for (uint64_t i = 1; i <= 50; ++i) copier->amo(rig.heap, 8, AmoOp::add, base, 0);
  };
  std::thread([&] { turns(1); }).join();  // no context at all
  std::thread([&] {
    adopt_thread(rig.gpu);
    turns(100);
  }).join();
  const Context other = rig.fake.make_context(0);
  std::thread([&] {
    rig.fake.driver().set_context(other);
    turns(10'000);
    Context after = nullptr;
    rig.fake.driver().get_context(&after);
    EXPECT_EQ(after, other);
  }).join();
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(rig.heap), 50u * 10'101);
}

TEST(CudaCopier, DestructionWaitsForCopiesUnderWay) {
  CopierRig rig(20'000);
  std::unique_ptr<Copier> first = rig.make({rig.bounce});
  std::unique_ptr<Copier> second = rig.make({rig.bounce});
  std::memset(rig.bounce.data(), 9, kHeapNbytes);
  for (size_t at = 0; at < kHeapNbytes; at += kHeapNbytes / 8) {
    first->start(rig.heap + at, rig.bounce.data() + at, kHeapNbytes / 16);
    second->start(rig.heap + at + kHeapNbytes / 16, rig.bounce.data() + at + kHeapNbytes / 16, kHeapNbytes / 16);
  }
  first.reset();
  EXPECT_EQ(rig.fake.calls("cuMemHostUnregister"), 0) << "the second one still copies";
  second.reset();
  EXPECT_EQ(rig.fake.calls("cuMemHostUnregister"), 1);
  EXPECT_EQ(std::count(rig.heap, rig.heap + kHeapNbytes, std::byte{9}), static_cast<ptrdiff_t>(kHeapNbytes));
  EXPECT_EQ(rig.fake.leaks(), "1 mapping, 1 reservation, 1 retained context");
}

/// As the PE's own area is; the driver is not asked what they are.
TEST(CudaCopier, AreasOfNeighboursArePinnedAndKnown) {
  CopierRig rig;
  constexpr size_t kArea = 8192, kPiece = 5000;
  std::vector<std::vector<std::byte>> areas(3, std::vector<std::byte>(kArea));
  const std::vector<std::span<std::byte>> neighbours(areas.begin(), areas.end());
  {
    const std::unique_ptr<Copier> copier = rig.make({rig.bounce, neighbours});
    EXPECT_EQ(rig.fake.calls("cuMemHostRegister_v2"), 4);
    const int questions = rig.fake.calls("cuPointerGetAttributes");
    for (size_t i = 0; i < areas.size(); ++i) {
      std::byte* const slot = areas[i].data() + kArea - kPiece;
      std::memset(slot, static_cast<int>(i) + 1, kPiece);
      finish(*copier, copier->start(rig.heap + i * kPiece, slot, kPiece));
      std::memset(slot, 0, kPiece);
      finish(*copier, copier->start(slot, rig.heap + i * kPiece, kPiece));
      EXPECT_EQ(std::count(slot, slot + kPiece, static_cast<std::byte>(i + 1)), static_cast<ptrdiff_t>(kPiece));
    }
    EXPECT_EQ(rig.fake.calls("cuPointerGetAttributes"), questions);
  }
  EXPECT_EQ(rig.fake.calls("cuMemHostUnregister"), 4);
}

TEST(CudaCopier, AmosCopyNoMoreThanTheyMust) {
  CopierRig rig;
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  const auto copies_of = [&](AmoOp op) {
    const int before = rig.fake.calls("cuMemcpyAsync");
    copier->amo(rig.heap, 8, op, 1, 1);
    return rig.fake.calls("cuMemcpyAsync") - before;
  };
  EXPECT_EQ(copies_of(AmoOp::set), 1);
  EXPECT_EQ(copies_of(AmoOp::fetch), 1);
  EXPECT_EQ(copies_of(AmoOp::add), 2);
  EXPECT_EQ(copies_of(AmoOp::compare_swap), 1) << "which does not change what it finds";
}

/// Whatever the operations are, of words that overlap or not: as one after the other.
void expect_amos_together(CopierRig& rig) {
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  std::byte* const elsewhere = rig.fake.allocate(64);  // no part of the heap
  std::memset(elsewhere, 0, 64);
  std::vector<uint64_t> model(32 + 8);
  constexpr AmoOp kOps[] = {AmoOp::fetch,     AmoOp::set,    AmoOp::swap,      AmoOp::compare_swap, AmoOp::add,
                            AmoOp::fetch_add, AmoOp::bit_or, AmoOp::fetch_and, AmoOp::fetch_xor,    AmoOp::bit_xor};
  std::mt19937_64 random(17);
  for (int round = 0; round < 60; ++round) {
    std::vector<WordAmo> amos(1 + random() % 150);
    std::vector<uint64_t> old;
    for (WordAmo& amo : amos) {
      const size_t i = random() % model.size();
      const bool in_heap = i < 32;
      auto* const wanted = reinterpret_cast<std::byte*>(&model[i]);
      const bool narrow = random() % 4 == 0;
      const size_t half = narrow ? 4 * (random() % 2) : 0;
      amo = {(in_heap ? rig.heap + 8 * i : elsewhere + 8 * (i - 32)) + half, static_cast<uint8_t>(narrow ? 4 : 8),
             kOps[random() % std::size(kOps)], random() % 5, random() % 5};
      WordAmo same = amo;
      same.execute_on(wanted + half);
      old.push_back(same.old);
    }
    copier->amos(amos);
    for (size_t i = 0; i < amos.size(); ++i) ASSERT_EQ(amos[i].old, old[i]) << "round " << round << ", number " << i;
    ASSERT_EQ(std::memcmp(rig.heap, model.data(), 32 * 8), 0) << "round " << round;
    ASSERT_EQ(std::memcmp(elsewhere, &model[32], 8 * 8), 0) << "round " << round;
  }
  rig.fake.release(elsewhere);
}

TEST_P(CudaCopierTest, ManyAmosAreAsOneAfterTheOther) {
  CopierRig rig(CopierCase{GetParam().late_us / 10, GetParam().window});
  expect_amos_together(rig);
  EXPECT_EQ(rig.fake.calls("cuMemcpyBatchAsync_v2") > 0, !GetParam().window);
}

TEST(CudaCopier, ManyAmosAreSoWithOlderDriversToo) {
  CopierRig rig(0, CopierRig::DriverOf::cuda_11_4);
  expect_amos_together(rig);
}

TEST(CudaCopier, WordsOfManyAmosTakeOneTrip) {
  CopierRig rig;
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  std::vector<WordAmo> amos;
  for (uint64_t i = 0; i < 60; ++i) amos.push_back({rig.heap + 8 * (i % 20), 8, AmoOp::fetch_add, i, 0});
  copier->amos(amos);
  EXPECT_EQ(rig.fake.calls("cuMemcpyBatchAsync_v2"), 2) << "there and back";
  EXPECT_EQ(rig.fake.calls("cuMemcpyAsync"), 0);
}

/// Small and large copies, each with a word behind it, of which some are stored to again and again.
void expect_words_behind_their_bytes(CopierRig& rig) {
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  constexpr size_t kRounds = 12, kData = 4096, kWords = 8, kSlot = 48 << 10;
  std::mt19937 random(3);
  for (size_t round = 1; round <= kRounds; ++round) {
    std::vector<Copier::Ticket> tickets;
    for (size_t i = 0; i < kWords; ++i) {
      std::byte* const source = rig.bounce.data() + i * kSlot;
      const size_t nbytes = random() % 3 == 0 ? kSlot : random() % 2 == 0 ? 8 * (1 + random() % 100) : 0;
      for (size_t at = 0; at < nbytes; at += 8) std::memcpy(source + at, &round, 8);
      std::byte* const word = rig.heap + i * 8;
      tickets.push_back(copier->start_then_set(rig.heap + kData + i * kSlot, source, nbytes, word, 2 * round));
      tickets.push_back(copier->start_then_set(nullptr, nullptr, 0, word, 2 * round + 1));
      if (nbytes == 0) continue;
      const uint64_t began = now_ns();
      while (word_at(rig.heap + i * 8) < 2 * round) {
        copier->finished(tickets.back());  // somebody must ask
        ASSERT_LT(now_ns() - began, 20'000'000'000u);
      }
      EXPECT_EQ(word_at(rig.heap + kData + i * kSlot + nbytes - 8), round) << "the word is there before its bytes";
    }
    EXPECT_EQ(copier->amo(rig.heap, 8, AmoOp::fetch_add, 1000, 0), 2 * round + 1) << "after both stores";
    for (const Copier::Ticket ticket : tickets) finish(*copier, ticket);
    for (size_t i = 1; i < kWords; ++i) EXPECT_EQ(word_at(rig.heap + i * 8), 2 * round + 1) << "the second store stays";
    copier->amo(rig.heap, 8, AmoOp::set, 0, 0);
  }
}

TEST_P(CudaCopierTest, AWordIsStoredBehindItsBytesAndInOrder) {
  CopierRig rig(GetParam());
  expect_words_behind_their_bytes(rig);
  EXPECT_GT(rig.fake.calls("cuStreamBatchMemOp_v2"), 0);
}

TEST(CudaCopier, OlderDriversCopyOneByOneAndWordsToo) {
  for (const unsigned late_us : {0u, 100u}) {
    CopierRig rig(late_us, CopierRig::DriverOf::cuda_11_4);
    expect_words_behind_their_bytes(rig);
    EXPECT_EQ(rig.fake.calls("cuStreamBatchMemOp_v2") + rig.fake.calls("cuMemcpyBatchAsync_v2"), 0);
  }
}

TEST(CudaCopier, MoreStoresThanAreKeptWaitForRoom) {
  CopierRig rig(10);
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  Copier::Ticket last = 0;
  for (uint64_t i = 0; i < 2000; ++i) last = copier->start_then_set(nullptr, nullptr, 0, rig.heap + i * 8, i + 1);
  finish(*copier, last);
  for (uint64_t i = 0; i < 2000; ++i) EXPECT_EQ(word_at(rig.heap + i * 8), i + 1);
}

TEST(CudaCopier, WorksWhileAGraphIsCapturedElsewhere) {
  CopierRig rig(50);
  rig.fake.capture(true);
  {
    const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
    finish(*copier, copier->start(rig.heap, rig.bounce.data(), 64));
    copier->amo(rig.heap, 8, AmoOp::fetch_add, 1, 0);
  }
  EXPECT_FALSE(rig.fake.capture_broken());
}

TEST(CudaCopierDeathTest, AFailingCopyEndsTheJobWithTheDriversWords) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // the fake has a thread, which may hold its lock
  CopierRig rig;
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  rig.fake.fail("cuMemcpyAsync", 1, kIllegalAddress, true);
  EXPECT_EXIT(copier->start(rig.heap, rig.bounce.data(), 64), ::testing::ExitedWithCode(1),
              "cuMemcpyAsync on GPU 0 .Fake GPU, 0000:18:00.0. failed: an illegal memory access was encountered .700.; "
              "an earlier kernel");
  rig.fake.fail("cuMemcpyAsync", 1000, kSuccess);
  rig.fake.hold(true);
  const Copier::Ticket ticket = copier->start(rig.heap, rig.bounce.data(), 64);
  rig.fake.fail("cuStreamQuery", 1, kIllegalAddress, true);
  EXPECT_EXIT(finish(*copier, ticket), ::testing::ExitedWithCode(1), "a copy .cuStreamQuery. on GPU 0");
  rig.fake.fail("cuStreamQuery", 1000, kSuccess);
  rig.fake.hold(false);
  finish(*copier, ticket);
}

TEST(CudaCopierDeathTest, WithoutWordsAFailingCopyDoesSoToo) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // the fake has a thread, which may hold its lock
  CopierRig rig(0, CopierRig::DriverOf::no_words);
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  rig.fake.fail("cuEventQuery", 1, kIllegalAddress, true);
  const Copier::Ticket ticket = copier->start(rig.heap, rig.bounce.data(), 64);
  EXPECT_EXIT(finish(*copier, ticket), ::testing::ExitedWithCode(1), "a copy .cuEventQuery. on GPU 0");
  rig.fake.fail("cuEventQuery", 1000, kSuccess);
}

TEST(CudaCopier, AProcessThatEndsAfterItsDriverEndsInPeace) {
  CopierRig rig;
  std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  for (const char* call : {"cuCtxGetCurrent", "cuStreamQuery", "cuStreamDestroy_v2", "cuEventDestroy_v2",
                           "cuMemFreeHost", "cuMemHostUnregister"})
    rig.fake.fail(call, 1, kDeinitialized, true);
  ::testing::internal::CaptureStderr();
  copier.reset();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(rig.fake.calls("cuMemFreeHost"), 7) << "it tries all the same";
}

}  // namespace
}  // namespace railshmem::cuda
