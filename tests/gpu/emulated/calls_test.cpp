// SPDX-License-Identifier: BSD-3-Clause
// The names of the standard as kernels call them, to a mapped PE and to one that only the proxy reaches.
#include <gtest/gtest.h>
#include <shmem.h>

#include <cstring>
#include <numeric>

#include "tests/gpu/emulated/emulated_job.h"

namespace railshmem::emulation {
namespace {

constexpr int kMe = 0;

/// PE 0 and 1 share a node, or not: everything is then reached through commands, this PE itself excepted.
class Calls : public ::testing::TestWithParam<bool> {
 protected:
  Calls() : job_({.npes = 2, .node_npes = GetParam() ? 2 : 1}) {
    std::iota(job_.object(kMe), job_.object(kMe) + 4096, 0);
  }
  /// One thread of PE 0 runs it.
  template <class Body>
  void kernel(const Body& body) {
    job_.run_on(kMe, 1, 1, body);
    ASSERT_EQ(job_.fault(kMe).ready, 0u) << name_of(job_.fault(kMe).call) << ": status " << job_.fault(kMe).status;
  }
  unsigned char* mine(uint64_t offset = 0) { return job_.object(kMe, offset); }
  unsigned char* theirs(uint64_t offset = 0) { return job_.object(1, offset); }

  Job job_;
};

TEST_P(Calls, WhoAndWhere) {
  kernel([&] {
    EXPECT_EQ(shmem_my_pe(), 0);
    EXPECT_EQ(shmem_n_pes(), 2);
    EXPECT_EQ(shmem_ptr(mine(8), 0), mine(8));
    EXPECT_EQ(shmem_ptr(mine(8), 1), GetParam() ? theirs(8) : nullptr);
    EXPECT_EQ(shmem_ptr(this, 1), nullptr);
    EXPECT_EQ(shmem_ptr(mine(8), 2), nullptr);
    EXPECT_EQ(shmem_pe_accessible(1), 1);
    EXPECT_EQ(shmem_pe_accessible(2), 0);
    EXPECT_EQ(shmem_addr_accessible(mine(), 1), 1);
    EXPECT_EQ(shmem_addr_accessible(this, 1), 0);
    int major = 0, minor = 0;
    shmem_info_get_version(&major, &minor);
    EXPECT_EQ(major * 10 + minor, 16);
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_name(name);
    EXPECT_STREQ(name, SHMEM_VENDOR_STRING);
    EXPECT_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), 0);
    EXPECT_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), 2);
    EXPECT_EQ(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
    EXPECT_EQ(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
    EXPECT_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 1, SHMEM_TEAM_WORLD), 1);
    EXPECT_EQ(shmem_team_ptr(SHMEM_TEAM_WORLD, mine(8), 0), mine(8));
    shmem_team_t team = SHMEM_TEAM_INVALID;
    EXPECT_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
    EXPECT_EQ(team, SHMEM_TEAM_WORLD);
    EXPECT_NE(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team), 0);
    EXPECT_EQ(team, SHMEM_TEAM_INVALID);
  });
}

TEST_P(Calls, BlocksOfEveryTypeAndSize) {
  kernel([&] {
    auto* const shorts = reinterpret_cast<short*>(mine(1024));
    shmem_short_put(shorts, reinterpret_cast<short*>(mine()), 9, 1);
    shmem_ctx_double_put_nbi(SHMEM_CTX_DEFAULT, reinterpret_cast<double*>(mine(1048)),
                             reinterpret_cast<double*>(mine(24)), 3, 1);
    shmem_put128(mine(1072), mine(48), 2, 1);
    shmem_putmem_nbi(mine(1105), mine(81), 33, 1);
    shmem_longdouble_put(reinterpret_cast<long double*>(mine(1152)), reinterpret_cast<long double*>(mine(128)), 2, 1);
    shmem_quiet();
  });
  EXPECT_EQ(std::memcmp(theirs(1024), mine(), 18), 0);
  EXPECT_EQ(std::memcmp(theirs(1048), mine(24), 24), 0);
  EXPECT_EQ(std::memcmp(theirs(1072), mine(48), 32), 0);
  EXPECT_EQ(std::memcmp(theirs(1105), mine(81), 33), 0);
  EXPECT_EQ(std::memcmp(theirs(1152), mine(128), 32), 0);
  EXPECT_EQ(theirs(1042)[0], 0);
  std::iota(theirs(2048), theirs(2048) + 256, 100);
  kernel([&] {
    shmem_get8(mine(3000), mine(2049), 77, 1);
    shmem_int_get_nbi(reinterpret_cast<int*>(mine(3200)), reinterpret_cast<int*>(mine(2052)), 5, 1);
    shmem_quiet();
    unsigned char local[40];  // a thread's own variables, which no proxy can write
    shmem_getmem(local, mine(2050), 37, 1);
    EXPECT_EQ(std::memcmp(local, theirs(2050), 37), 0);
    std::memset(local, 9, sizeof local);
    shmem_putmem(mine(2500), local, 39, 1);
    shmem_quiet();
  });
  EXPECT_EQ(std::memcmp(mine(3000), theirs(2049), 77), 0);
  EXPECT_EQ(std::memcmp(mine(3200), theirs(2052), 20), 0);
  EXPECT_EQ(theirs(2500)[38], 9);
  EXPECT_EQ(theirs(2500)[39], 0);
}

TEST_P(Calls, SingleValues) {
  kernel([&] {
    shmem_float_p(reinterpret_cast<float*>(mine(512)), 2.5f, 1);
    shmem_p(reinterpret_cast<unsigned char*>(mine(516)), static_cast<unsigned char>(7), 1);
    shmem_ctx_long_p(SHMEM_CTX_DEFAULT, reinterpret_cast<long*>(mine(520)), -5, 1);
    shmem_quiet();
    EXPECT_EQ(shmem_float_g(reinterpret_cast<float*>(mine(512)), 1), 2.5f);
    EXPECT_EQ(shmem_uchar_g(mine(516), 1), 7);
    EXPECT_EQ(shmem_g(SHMEM_CTX_DEFAULT, reinterpret_cast<long*>(mine(520)), 1), -5);
  });
  EXPECT_EQ(theirs(517)[0], 0);
}

TEST_P(Calls, StridedElementsAndBlocks) {
  kernel([&] {
    shmem_int_iput(reinterpret_cast<int*>(mine(1024)), reinterpret_cast<int*>(mine()), 2, 3, 4, 1);
    shmem_ibput16(mine(1200), mine(), 7, 5, 3, 6, 1);
    shmem_iput128(mine(1600), mine(), 1, 1, 2, 1);  // packed
    shmem_quiet();
  });
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(std::memcmp(theirs(1024 + static_cast<uint64_t>(i) * 8), mine(static_cast<uint64_t>(i) * 12), 4), 0);
    EXPECT_EQ(theirs(1028 + static_cast<uint64_t>(i) * 8)[0], 0);
  }
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(std::memcmp(theirs(1200 + static_cast<uint64_t>(i) * 14), mine(static_cast<uint64_t>(i) * 10), 6), 0);
    EXPECT_EQ(theirs(1206 + static_cast<uint64_t>(i) * 14)[0], 0);
  }
  EXPECT_EQ(std::memcmp(theirs(1600), mine(), 32), 0);
  std::iota(theirs(2048), theirs(2048) + 512, 1);
  kernel([&] {
    shmem_short_iget(reinterpret_cast<short*>(mine(3000)), reinterpret_cast<short*>(mine(2048)), 2, 4, 5, 1);
    shmem_long_ibget(reinterpret_cast<long*>(mine(3200)), reinterpret_cast<long*>(mine(2048)), 12, 14, 11, 3, 1);
  });
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(std::memcmp(mine(3000 + i * 4), theirs(2048 + i * 8), 2), 0);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(std::memcmp(mine(3200 + i * 96), theirs(2048 + i * 112), 88), 0);
}

TEST_P(Calls, SignalsFollowTheirData) {
  for (const size_t nbytes : {0u, 3u, 8u, 300u}) {
    std::memset(theirs(), 0, 4096);
    auto* const signal = reinterpret_cast<uint64_t*>(mine(2048));
    emulation::run({{&job_.view(0), 1, 1,
                     [&] {
                       shmem_putmem_signal_nbi(mine(1024), mine(), nbytes, signal, 5, SHMEM_SIGNAL_SET, 1);
                       shmem_fence();
                       shmem_signal_add(signal, 2, 1);
                       shmem_quiet();
                       unsigned char local[20] = {1, 2, 3};
                       shmem_fence();
                       shmem_uchar_put_signal(mine(1500), local, sizeof local, signal, 1, SHMEM_SIGNAL_ADD, 1);
                     }},
                    {&job_.view(1), 1, 1, [&] {
                       auto* const seen = reinterpret_cast<uint64_t*>(theirs(2048));
                       EXPECT_GE(shmem_signal_wait_until(seen, SHMEM_CMP_GE, 7), 7u);
                       EXPECT_EQ(std::memcmp(theirs(1024), mine(), nbytes), 0);
                       EXPECT_EQ(shmem_signal_wait_until(seen, SHMEM_CMP_EQ, 8), 8u);
                       EXPECT_EQ(theirs(1502)[0], 3);
                       EXPECT_EQ(shmem_signal_fetch(seen), 8u);
                     }}});
    ASSERT_EQ(job_.fault(0).ready, 0u) << job_.fault(0).status;
  }
}

template <class T, class At>
void atomics_of(const At& at) {
  T* const word = reinterpret_cast<T*>(at);
  shmem_atomic_set(word, T(12), 1);
  shmem_quiet();
  EXPECT_EQ(shmem_atomic_fetch(word, 1), T(12));
  EXPECT_EQ(shmem_atomic_swap(word, T(10), 1), T(12));
  shmem_quiet();
  EXPECT_EQ(shmem_atomic_fetch(word, 1), T(10));
}

template <class T, class At>
void arithmetic_of(const At& at) {
  T* const word = reinterpret_cast<T*>(at);
  EXPECT_EQ(shmem_atomic_fetch_add(word, T(5), 1), T(10));
  EXPECT_EQ(shmem_atomic_fetch_inc(word, 1), T(15));
  EXPECT_EQ(shmem_atomic_compare_swap(word, T(15), T(3), 1), T(16));
  EXPECT_EQ(shmem_atomic_compare_swap(word, T(16), T(3), 1), T(16));
  shmem_atomic_add(word, T(4), 1);
  shmem_atomic_inc(word, 1);
  shmem_quiet();
  EXPECT_EQ(shmem_atomic_fetch(word, 1), T(8));
}

TEST_P(Calls, Atomics) {
  kernel([&] {
    atomics_of<float>(mine(512));
    atomics_of<double>(mine(512));
    atomics_of<int>(mine(520));
    arithmetic_of<int>(mine(520));
    atomics_of<unsigned long>(mine(528));
    arithmetic_of<unsigned long>(mine(528));
    auto* const bits = reinterpret_cast<uint32_t*>(mine(536));
    EXPECT_EQ(shmem_uint32_atomic_fetch_or(bits, 0xf0, 1), 0u);
    EXPECT_EQ(shmem_uint32_atomic_fetch_and(bits, 0x3c, 1), 0xf0u);
    EXPECT_EQ(shmem_uint32_atomic_fetch_xor(bits, 0x11, 1), 0x30u);
    shmem_uint32_atomic_or(bits, 0x100, 1);
    shmem_uint32_atomic_xor(bits, 1, 1);
    shmem_uint32_atomic_and(bits, 0x1ff, 1);
    shmem_quiet();
    EXPECT_EQ(shmem_uint32_atomic_fetch(bits, 1), 0x120u);
    auto* const old = reinterpret_cast<uint32_t*>(mine(1000));
    shmem_ctx_uint32_atomic_fetch_add_nbi(SHMEM_CTX_DEFAULT, old, bits, 1, 1);
    shmem_quiet();
    EXPECT_EQ(*old, 0x120u);
    uint32_t local = 0;
    shmem_uint32_atomic_swap_nbi(&local, bits, 3, 1);
    shmem_quiet();
    EXPECT_EQ(local, 0x121u);
  });
}

TEST_P(Calls, ManyThreadsAddAndFetch) {
  constexpr uint32_t kBlocks = 3, kThreads = 4, kTimes = 50;
  std::atomic<uint64_t> sum{0};
  job_.run_on(kMe, kBlocks, kThreads, [&] {
    auto* const counter = reinterpret_cast<uint64_t*>(mine(512));
    for (uint32_t i = 0; i < kTimes; ++i) sum += shmem_uint64_atomic_fetch_inc(counter, 1);
  });
  constexpr uint64_t kAll = kBlocks * kThreads * kTimes;
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(theirs(512)), kAll);
  EXPECT_EQ(sum.load(), kAll * (kAll - 1) / 2);  // every old value once
}

TEST_P(Calls, WaitsAndTests) {
  auto* const words = reinterpret_cast<int*>(mine(512));
  kernel([&] {
    EXPECT_EQ(shmem_int_test(words, SHMEM_CMP_EQ, words[0]), 1);
    EXPECT_EQ(shmem_int_test(words, SHMEM_CMP_NE, words[0]), 0);
    for (int i = 0; i < 6; ++i) words[i] = i;
    const int skip[6] = {0, 0, 0, 1, 0, 0};
    const int values[6] = {0, 5, 2, 9, 5, 5};
    size_t found[6];
    shmem_int_wait_until(words + 5, SHMEM_CMP_GE, 5);
    EXPECT_EQ(shmem_int_wait_until_any(words, 6, nullptr, SHMEM_CMP_GT, 4), 5u);
    EXPECT_EQ(shmem_int_test_any(words, 6, skip, SHMEM_CMP_EQ, 3), SIZE_MAX);
    EXPECT_EQ(shmem_int_wait_until_some(words, 6, found, skip, SHMEM_CMP_LE, 3), 3u);
    EXPECT_EQ(found[2], 2u);
    EXPECT_EQ(shmem_int_test_some_vector(words, 6, found, nullptr, SHMEM_CMP_EQ, values), 3u);
    EXPECT_EQ(found[2], 5u);
    EXPECT_EQ(shmem_int_test_all(words, 6, nullptr, SHMEM_CMP_LT, 6), 1);
    EXPECT_EQ(shmem_int_test_all_vector(words, 6, nullptr, SHMEM_CMP_EQ, values), 0);
    shmem_int_wait_until_all(words, 6, skip, SHMEM_CMP_NE, 3);
    const int all[6] = {1, 1, 1, 1, 1, 1};
    EXPECT_EQ(shmem_int_wait_until_any(words, 6, all, SHMEM_CMP_EQ, 77), SIZE_MAX);
    EXPECT_EQ(shmem_int_wait_until_some_vector(words, 6, found, all, SHMEM_CMP_EQ, values), 0u);
    shmem_short_wait_until(reinterpret_cast<short*>(words + 3), SHMEM_CMP_EQ, 3);
    shmem_wait_until(reinterpret_cast<long*>(words + 2), SHMEM_CMP_EQ, (3l << 32) | 2);
  });
}

TEST_P(Calls, WaitsForManyShortWords) {
  auto* const words = reinterpret_cast<short*>(mine(512));
  const short wanted[4] = {1, -2, 3, 4};
  for (int i = 0; i < 4; ++i) words[i] = wanted[i];
  kernel([&] {
    size_t found[4] = {};
    const int status[4] = {0, 1, 0, 0};
    shmemx_short_wait_until_all_vector(words, 4, nullptr, SHMEM_CMP_EQ, wanted);
    shmemx_short_wait_until_all(words, 4, status, SHMEM_CMP_GT, 0);
    EXPECT_EQ(shmemx_short_wait_until_any(words, 4, nullptr, SHMEM_CMP_LT, 0), 1u);
    EXPECT_EQ(shmemx_short_wait_until_some(words, 4, found, nullptr, SHMEM_CMP_GE, 3), 2u);
    EXPECT_EQ(found[0] + found[1], 5u);
    EXPECT_EQ(shmemx_short_test_all(words, 4, nullptr, SHMEM_CMP_GT, 0), 0);
    EXPECT_EQ(shmemx_short_test_any_vector(words, 4, nullptr, SHMEM_CMP_NE, wanted), SIZE_MAX);
    EXPECT_EQ(shmemx_ushort_test_some(reinterpret_cast<unsigned short*>(words), 4, found, nullptr, SHMEM_CMP_GT, 9),
              1u);
    EXPECT_EQ(found[0], 1u);
  });
}

TEST_P(Calls, ContextsOfTeamsTranslatePes) {
  job_.team(kMe, 1) = {(5 << 24) + 2, 1, -1, 2, 1, nullptr, 0, 1};  // PEs 1, 0
  const auto handle = reinterpret_cast<shmem_ctx_t>(uintptr_t{(9 << 20) + 3});
  job_.context(kMe, 1) = {reinterpret_cast<uintptr_t>(handle), (5 << 24) + 2, 4, 0, {}};
  kernel([&] {
    shmem_ctx_int_p(handle, reinterpret_cast<int*>(mine(512)), 77, 0);  // rank 0 is PE 1
    shmem_ctx_fence(handle);
    shmem_ctx_quiet(handle);
    const int list[1] = {1};
    shmem_ctx_pe_quiet(handle, list, 1);
    shmem_team_t team = SHMEM_TEAM_INVALID;
    EXPECT_EQ(shmem_ctx_get_team(handle, &team), 0);
    EXPECT_EQ(shmem_team_my_pe(team), 1);
    EXPECT_EQ(shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD), 1);
    EXPECT_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, team), 1);
    EXPECT_EQ(shmem_team_translate_pe(team, 2, SHMEM_TEAM_WORLD), -1);
    EXPECT_EQ(shmem_team_n_pes(reinterpret_cast<shmem_team_t>(uintptr_t{2})), -1);  // of another generation
  });
  EXPECT_EQ(*reinterpret_cast<int*>(theirs(512)), 77);
}

/// A command that holds all that it speaks of needs none, and neither does one whose caller has promised that what it
/// names was published before.
TEST_P(Calls, OnlyCommandsThatNameMemoryPayAFence) {
  const auto handle = reinterpret_cast<shmem_ctx_t>(uintptr_t{(9 << 20) + 3});
  ContextRow& row = job_.context(kMe, 1);
  row.handle = reinterpret_cast<uintptr_t>(handle);
  row.number = 4;
  row.published = 1;
  auto* const word = reinterpret_cast<uint64_t*>(mine(2048));
  const bool far = !GetParam();
  kernel([&] {
    const auto fences_of = [](const auto& call) {
      const uint64_t before = fences;
      call();
      return fences - before;
    };
    EXPECT_EQ(fences_of([&] { shmem_uint64_p(word, 1, 1); }), 0u);
    EXPECT_EQ(fences_of([&] { shmem_putmem_nbi(mine(1024), mine(), 8, 1); }), 0u);
    EXPECT_EQ(fences_of([&] { shmem_signal_set(word, 2, 1); }), 0u);
    EXPECT_EQ(fences_of([&] { shmem_uint64_atomic_set(word, 3, 1); }), 0u);
    EXPECT_EQ(fences_of([&] { shmem_putmem_signal_nbi(mine(1032), mine(8), 8, word, 4, SHMEM_SIGNAL_SET, 1); }),
              far ? 0u : 1u);
    EXPECT_EQ(fences_of([&] { shmem_putmem_nbi(mine(1040), mine(16), 64, 1); }), far ? 1u : 0u);
    EXPECT_EQ(fences_of([&] { shmem_ctx_putmem_nbi(handle, mine(1104), mine(80), 64, 1); }), 0u);
    EXPECT_EQ(fences_of([&] { shmem_ctx_getmem_nbi(handle, mine(3000), mine(16), 64, 1); }), 0u);
    shmem_quiet();
  });
  EXPECT_EQ(std::memcmp(theirs(1024), mine(), 144), 0);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(theirs(2048)), 4u);
}

TEST_P(Calls, HostMemoryBesideTheHeapIsReachedAsWell) {
  std::iota(job_.other(0), job_.other(0) + 64, 3);
  kernel([&] {
    shmem_putmem(job_.other(0) + 100, job_.other(0), 50, 1);
    shmem_putmem_signal(job_.other(0) + 200, mine(), 50, reinterpret_cast<uint64_t*>(mine(2048)), 9, SHMEM_SIGNAL_SET,
                        1);
    shmem_quiet();
  });
  EXPECT_EQ(std::memcmp(job_.other(1) + 100, job_.other(0), 50), 0);
  EXPECT_EQ(std::memcmp(job_.other(1) + 200, mine(), 50), 0);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(theirs(2048)), 9u);
}

INSTANTIATE_TEST_SUITE_P(Peers, Calls, ::testing::Bool(), [](const auto& i) { return i.param ? "Mapped" : "Far"; });

}  // namespace
}  // namespace railshmem::emulation
