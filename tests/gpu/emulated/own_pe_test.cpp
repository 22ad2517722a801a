// SPDX-License-Identifier: BSD-3-Clause
// Calls of a kernel whose target is the calling PE reach any memory of the caller, not only symmetric memory.
#include <gtest/gtest.h>
#include <shmem.h>
#include <shmemx.h>

#include <array>
#include <cstring>
#include <numeric>

#include "tests/gpu/emulated/emulated_job.h"

namespace railshmem::emulation {
namespace {

/// The parameter: whether the other PE is of this node. Where it is not, calls for symmetric words go to the proxy.
class OwnPe : public ::testing::TestWithParam<bool> {
 protected:
  OwnPe() : job_({.npes = 2, .node_npes = GetParam() ? 2 : 1}) {
    std::iota(job_.object(kMe), job_.object(kMe) + 4096, 0);
  }
  /// `threads` of PE 1 run it.
  template <class Body>
  void kernel(uint32_t threads, const Body& body) {
    job_.run_on(kMe, 1, threads, body);
    ASSERT_EQ(job_.fault(kMe).ready, 0u) << name_of(job_.fault(kMe).call) << ": status " << job_.fault(kMe).status;
  }
  template <class T = unsigned char>
  T* mine(uint64_t offset = 0) {
    return job_.object<T>(kMe, offset);
  }

  static constexpr int kMe = 1;
  Job job_;
};

TEST_P(OwnPe, ValuesAndBlocks) {
  std::array<unsigned char, 600> outside{};
  std::array<float, 4> reals{};
  kernel(1, [&] {
    shmem_float_p(reals.data() + 1, 2.5f, kMe);
    EXPECT_EQ(shmem_float_g(reals.data() + 1, kMe), 2.5f);
    shmem_putmem(outside.data(), mine(), 100, kMe);
    shmem_putmem_nbi(outside.data() + 100, mine(100), 100, kMe);
    shmem_getmem(mine(2000), outside.data(), 200, kMe);
    shmem_getmem_nbi(mine(2200), outside.data() + 50, 90, kMe);
    shmem_int_iput(reinterpret_cast<int*>(outside.data() + 400), mine<int>(), 2, 3, 4, kMe);
    shmem_ibput16(outside.data() + 440, mine(), 7, 5, 3, 6, kMe);
    shmem_short_iget(mine<short>(3000), reinterpret_cast<short*>(outside.data()), 2, 4, 5, kMe);
    shmem_quiet();
  });
  EXPECT_EQ(std::memcmp(outside.data(), mine(), 200), 0);
  EXPECT_EQ(std::memcmp(mine(2000), mine(), 200), 0);
  EXPECT_EQ(std::memcmp(mine(2200), mine(50), 90), 0);
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(std::memcmp(outside.data() + 400 + i * 8, mine(i * 12), 4), 0) << i;
  for (uint64_t i = 0; i < 6; ++i) EXPECT_EQ(std::memcmp(outside.data() + 440 + i * 14, mine(i * 10), 6), 0) << i;
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(std::memcmp(mine(3000 + i * 4), mine(i * 8), 2), 0) << i;
  EXPECT_EQ(outside[200], 0);
}

TEST_P(OwnPe, ByTheThreadsOfAScope) {
  std::array<unsigned char, 4096> outside{};
  kernel(64, [&] {
    shmemx_putmem_block(outside.data() + 3, mine(3), 1000, kMe);
    shmemx_int_iput_block(reinterpret_cast<int*>(outside.data() + 2000), mine<int>(), 2, 1, 40, kMe);
    if (threads::rank_in_block() < 32) shmemx_getmem_nbi_warp(mine(3000), outside.data() + 3, 500, kMe);
  });
  EXPECT_EQ(std::memcmp(outside.data() + 3, mine(3), 1000), 0);
  EXPECT_EQ(std::memcmp(mine(3000), mine(3), 500), 0);
  for (uint64_t i = 0; i < 40; ++i) EXPECT_EQ(std::memcmp(outside.data() + 2000 + i * 8, mine(i * 4), 4), 0) << i;
}

TEST_P(OwnPe, Atomics) {
  long word = 10, fetched = -1;
  unsigned small = 6;
  kernel(1, [&] {
    shmem_long_atomic_add(&word, 5, kMe);
    EXPECT_EQ(shmem_long_atomic_fetch_inc(&word, kMe), 15);
    EXPECT_EQ(shmem_long_atomic_compare_swap(&word, 16, 20, kMe), 16);
    shmem_long_atomic_fetch_add_nbi(&fetched, &word, 1, kMe);
    shmem_quiet();
    EXPECT_EQ(shmem_uint_atomic_fetch_xor(&small, 3, kMe), 6u);
    EXPECT_EQ(shmem_uint_atomic_fetch(&small, kMe), 5u);
    shmem_uint_atomic_set(&small, 9, kMe);
  });
  EXPECT_EQ(word, 21);
  EXPECT_EQ(fetched, 20);
  EXPECT_EQ(small, 9u);
}

TEST_P(OwnPe, SignalsFollowTheirData) {
  std::array<unsigned char, 300> outside{};
  uint64_t signal = 0;
  kernel(1, [&] {
    shmem_putmem_signal(outside.data(), mine(), 100, &signal, 5, SHMEM_SIGNAL_SET, kMe);
    EXPECT_EQ(shmem_signal_fetch(&signal), 5u);
    shmem_putmem_signal_nbi(outside.data() + 100, mine(100), 100, &signal, 2, SHMEM_SIGNAL_ADD, kMe);
    EXPECT_EQ(shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 7), 7u);
    shmem_signal_add(&signal, 3, kMe);
    shmem_putmem_signal(mine(2000), outside.data(), 60, &signal, 1, SHMEM_SIGNAL_ADD, kMe);
    shmem_putmem_signal(outside.data() + 200, mine(200), 60, mine<uint64_t>(3000), 8, SHMEM_SIGNAL_SET, kMe);
    shmem_quiet();
  });
  EXPECT_EQ(signal, 11u);
  EXPECT_EQ(std::memcmp(outside.data(), mine(), 200), 0);
  EXPECT_EQ(std::memcmp(mine(2000), mine(), 60), 0);
  EXPECT_EQ(std::memcmp(outside.data() + 200, mine(200), 60), 0);
  EXPECT_EQ(*mine<uint64_t>(3000), 8u);
  kernel(1, [&] { shmem_signal_set(&signal, 4, kMe); });
  EXPECT_EQ(signal, 4u);
}

/// Host memory beside the heap is not mapped for kernels where the job has a heap of the GPU's memory.
TEST_P(OwnPe, ASignalBehindDataThatTheProxyMoves) {
  job_.view(kMe).other.on_node = nullptr;
  if (GetParam()) return;  // no proxy in such a job
  uint64_t signal = 0;
  kernel(1, [&] {
    shmem_putmem_signal(job_.other(kMe), mine(), 40, &signal, 5, SHMEM_SIGNAL_SET, kMe);
    EXPECT_EQ(std::memcmp(job_.other(kMe), mine(), 40), 0);
  });
  EXPECT_EQ(signal, 5u);
}

TEST_P(OwnPe, OfAnotherPeNothingButSymmetricMemory) {
  uint64_t word = 0;
  job_.run_on(kMe, 1, 1, [&] { shmem_uint64_p(&word, 1, 0); });
  EXPECT_EQ(static_cast<ChannelStatus>(job_.fault(kMe).status), ChannelStatus::bad_address);
  EXPECT_EQ(word, 0u);
}

TEST_P(OwnPe, NullIsNobodysMemory) {
  job_.run_on(kMe, 1, 1, [&] { shmem_uint64_p(nullptr, 1, kMe); });
  EXPECT_EQ(static_cast<ChannelStatus>(job_.fault(kMe).status), ChannelStatus::bad_address);
}

INSTANTIATE_TEST_SUITE_P(Peers, OwnPe, ::testing::Bool(), [](const auto& i) { return i.param ? "Mapped" : "Far"; });

}  // namespace
}  // namespace railshmem::emulation
