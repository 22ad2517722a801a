// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong in kernels ends, and is told to the host.
#include <gtest/gtest.h>
#include <shmem.h>

#include "tests/gpu/emulated/emulated_job.h"

namespace railshmem::emulation {
namespace {

constexpr uint64_t kShort = 50'000'000;

template <class Body>
FaultRecord fault_of(Job& job, const Body& body) {
  job.run_on(0, 1, 1, body);
  return job.fault(0);
}

TEST(Faults, WrongPeAndWrongAddressAreRecorded) {
  for (const int node : {1, 2}) {
    Job a({.npes = 2, .node_npes = node});
    FaultRecord f = fault_of(a, [&] { shmem_int_p(a.object<int>(0), 1, 7); });
    EXPECT_EQ(f.ready, 1u);
    EXPECT_EQ(static_cast<ChannelStatus>(f.status), ChannelStatus::bad_pe);
    EXPECT_EQ(f.pe, 7);
    EXPECT_STREQ(name_of(f.call), "p");
    EXPECT_EQ(f.address, reinterpret_cast<uintptr_t>(a.object<int>(0)));

    Job b({.npes = 2, .node_npes = node});
    int not_symmetric = 0;
    f = fault_of(b, [&] { shmem_int_put(&not_symmetric, b.object<int>(0), 1, 1); });
    EXPECT_EQ(static_cast<ChannelStatus>(f.status), ChannelStatus::bad_address);
    EXPECT_STREQ(name_of(f.call), "put");

    Job c({.npes = 2, .node_npes = node});
    f = fault_of(c, [&] { shmem_getmem(c.object(0), c.heap(0) + Job::kHeap - 8, 9, 1); });
    EXPECT_EQ(static_cast<ChannelStatus>(f.status), ChannelStatus::bad_address);

    Job d({.npes = 2, .node_npes = node});
    f = fault_of(d, [&] { shmem_ctx_int_p(reinterpret_cast<shmem_ctx_t>(uintptr_t{3}), d.object<int>(0), 1, 1); });
    EXPECT_EQ(f.ready, 1u);  // no such context
  }
}

TEST(Faults, OnlyTheFirstIsKept) {
  Job job({});
  job.run_on(0, 4, 2, [&] { shmem_int_p(job.object<int>(0), 1, 100 + static_cast<int>(block_in_grid())); });
  EXPECT_EQ(job.fault(0).ready, 1u);
  EXPECT_EQ(job.fault(0).pe, 100 + static_cast<int>(job.fault(0).block));
}

TEST(Faults, AWaitEndsByItsDeadline) {
  Job job({.timeout_ns = kShort});
  const FaultRecord f = fault_of(job, [&] { shmem_long_wait_until(job.object<long>(0), SHMEM_CMP_EQ, 1); });
  EXPECT_EQ(static_cast<ChannelStatus>(f.status), ChannelStatus::timeout);
  EXPECT_STREQ(name_of(f.call), "wait_until");
}

TEST(Faults, AWaitEndsByTheErrorWord) {
  Job job({});
  std::jthread killer([&] { portable::set_once(job.error(0), static_cast<uint64_t>(ChannelStatus::peer_lost)); });
  const FaultRecord f = fault_of(job, [&] { shmem_signal_wait_until(job.object<uint64_t>(0), SHMEM_CMP_EQ, 1); });
  EXPECT_EQ(static_cast<ChannelStatus>(f.status), ChannelStatus::peer_lost);
}

TEST(Faults, AProxyThatDoesNothingEndsGetsAtomicsAndQuietByTheDeadline) {
  Job job({.npes = 2, .node_npes = 1, .timeout_ns = kShort});
  job.stalled = true;
  job.run_on(0, 1, 1, [&] {
    EXPECT_EQ(shmem_int_g(job.object<int>(0), 1), 0);
    shmem_int_atomic_fetch_inc(job.object<int>(0), 1);
    shmem_quiet();
  });
  EXPECT_EQ(static_cast<ChannelStatus>(job.fault(0).status), ChannelStatus::timeout);
  job.stalled = false;
}

TEST(Faults, BeforeTheStartNothingHappens) {
  const WorldView none;
  long word = 3;
  run({{&none, 1, 1, [&] {
          EXPECT_EQ(shmem_my_pe(), -1);
          EXPECT_EQ(shmem_n_pes(), 0);
          EXPECT_EQ(shmem_ptr(&word, 0), nullptr);
          shmem_long_p(&word, 4, 0);
          shmem_long_put(&word, &word, 1, 0);
          EXPECT_EQ(shmem_long_g(&word, 0), 0);
          shmem_long_atomic_add(&word, 1, 0);
          shmem_signal_set(reinterpret_cast<uint64_t*>(&word), 1, 0);
          shmem_long_wait_until(&word, SHMEM_CMP_EQ, 4);
          shmem_quiet();
          shmem_fence();
          EXPECT_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), -1);
        }}});
  EXPECT_EQ(word, 3);
}

/// In a job with far PEs only the owner's proxy updates words, except in declared memory and by declared contexts.
TEST(Routes, AtomicsOnAMappedPeGoThroughTheProxyUnlessDeclared) {
  Job job({.npes = 3, .node_npes = 2});
  const auto commands = [&](auto body) {
    const uint64_t before = job.commands();
    job.run_on(0, 1, 1, body);
    return job.commands() - before;
  };
  auto* const word = job.object<uint64_t>(0);
  EXPECT_EQ(commands([&] { shmem_uint64_atomic_fetch_add(word, 1, 1); }), 1u);
  EXPECT_EQ(commands([&] { shmem_uint64_p(word + 1, 1, 1); }), 0u);
  EXPECT_EQ(commands([&] { shmem_signal_set(word + 2, 1, 1); }), 0u);
  EXPECT_EQ(commands([&] { shmem_uint64_atomic_fetch(word, 1); }), 0u);
  EXPECT_EQ(commands([&] {
              shmem_signal_add(word + 2, 1, 1);
              shmem_fence();
              shmem_quiet();
            }),
            1u);
  // Memory that the program declared.
  job.view(0).heap.atomics_offset = Job::kObjects;
  job.view(0).heap.atomics_nbytes = 8;
  EXPECT_EQ(commands([&] { shmem_uint64_atomic_fetch_add(word, 1, 1); }), 0u);
  EXPECT_EQ(commands([&] { shmem_uint64_atomic_fetch_add(word + 1, 1, 1); }), 1u);
  // A context that the program declared.
  const auto handle = reinterpret_cast<shmem_ctx_t>(uintptr_t{2});
  job.context(0, 0) = {2, 1, 1, 1, {}};
  EXPECT_EQ(commands([&] { shmem_ctx_uint64_atomic_fetch_add(handle, word + 1, 1, 1); }), 0u);
  EXPECT_EQ(*job.object<uint64_t>(1), 2u);
  EXPECT_EQ(job.object<uint64_t>(1)[1], 3u);
}

/// From another node declared memory may be read and set, and nothing else.
TEST(Routes, DeclaredMemoryOfAFarPeIsOnlySet) {
  const auto handle = reinterpret_cast<shmem_ctx_t>(uintptr_t{2});
  for (const bool by_context : {false, true}) {
    for (int update = 0; update < 4; ++update) {
      Job job({.npes = 3, .node_npes = 2});
      if (!by_context) {
        job.view(0).heap.atomics_offset = Job::kObjects;
        job.view(0).heap.atomics_nbytes = 32;
      }
      job.context(0, 0) = {2, 1, 1, by_context, {}};
      auto* const word = job.object<uint64_t>(0);
      job.run_on(0, 1, 1, [&] {
        shmem_ctx_uint64_atomic_set(handle, word, 7, 2);
        shmem_ctx_signal_set(handle, word + 1, 8, 2);
        EXPECT_EQ(shmem_ctx_uint64_atomic_fetch(handle, word, 2), 7u);
        shmem_quiet();
      });
      EXPECT_EQ(job.object<uint64_t>(2)[1], 8u);
      EXPECT_EQ(job.fault(0).ready, 0u);
      job.run_on(0, 1, 1, [&] {
        uint64_t data = 5;
        if (update == 0) shmem_ctx_uint64_atomic_inc(handle, word, 2);
        if (update == 1) shmem_ctx_uint64_atomic_swap(handle, word, 3, 2);
        if (update == 2) shmem_ctx_signal_add(handle, word, 1, 2);
        if (update == 3) shmem_ctx_uint64_put_signal(handle, word + 3, &data, 1, word, 1, SHMEM_SIGNAL_ADD, 2);
        shmem_quiet();
      });
      EXPECT_EQ(job.fault(0).status, static_cast<uint64_t>(ChannelStatus::promised)) << update;
      EXPECT_EQ(job.object<uint64_t>(2)[0], 7u) << update;
    }
  }
}

}  // namespace
}  // namespace railshmem::emulation
