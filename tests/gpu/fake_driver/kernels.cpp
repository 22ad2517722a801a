// SPDX-License-Identifier: BSD-3-Clause
// The device API between PEs through the real library: its rings, proxy, staging and rails. Compiled with
// RAILSHMEM_EMULATION, so the names of the standard are here what kernels call.
#include "tests/gpu/fake_driver/kernels.h"

#include <shmem.h>

#include <atomic>
#include <vector>

#include "tests/gpu/emulated/emulation.h"

namespace railshmem::device_heap {
namespace {

/// Runs `body` in all threads of a grid; the smallest line that it returned and is not 0.
template <class Body>
int launch(const WorldView& world, uint32_t blocks, uint32_t threads, Body&& body) {
  std::atomic<int> wrong{0};
  emulation::run({{&world, blocks, threads, [&] {
                     if (const int line = body(); line != 0) {
                       int none = 0;
                       wrong.compare_exchange_strong(none, line);
                     }
                   }}});
  return wrong.load();
}

#define EXPECT_EQ(seen, expected)                 \
  do {                                            \
    if (!((seen) == (expected))) return __LINE__; \
  } while (false)

}  // namespace

uint64_t value_of(int pe, int i, int round) {
  return static_cast<uint64_t>(pe) * 1000003 + static_cast<uint64_t>(i) * 31 + static_cast<uint64_t>(round);
}

int queries(const WorldView& world, int me, int npes) {
  return launch(world, 1, 1, [&] {
    EXPECT_EQ(shmem_my_pe(), me);
    EXPECT_EQ(shmem_n_pes(), npes);
    return 0;
  });
}

int put_and_get(const WorldView& world, const Memory& m, int right) {
  return launch(world, 1, 1, [&] {
    auto* const source = reinterpret_cast<unsigned char*>(m.source);
    auto* const dest = reinterpret_cast<unsigned char*>(m.dest);
    auto* const back = reinterpret_cast<unsigned char*>(m.back);
    for (const size_t nbytes : {size_t{1}, size_t{7}, size_t{8}, size_t{64}, size_t{1000}, size_t{30000}}) {
      for (const size_t shift : {size_t{0}, size_t{3}, size_t{8}}) {
        shmem_putmem_nbi(dest + shift, source, nbytes, right);
        shmem_quiet();
        shmem_getmem(back, dest + shift, nbytes, right);
        for (size_t i = 0; i < nbytes; ++i) EXPECT_EQ(back[i], source[i]);
      }
    }
    return 0;
  });
}

int put_signal(const WorldView& world, const Memory& m, int right, int left, int round) {
  return launch(world, kBlocks, 1, [&] {
    const int block = static_cast<int>(emulation::block_in_grid()), share = kWords / kBlocks;
    uint64_t* const dest = m.dest + block * share;
    const auto number = static_cast<uint64_t>(round);
    shmem_putmem_signal_nbi(dest, m.source + block * share, share * 8, &m.signals[block], number, SHMEM_SIGNAL_SET,
                            right);
    EXPECT_EQ(shmem_signal_wait_until(&m.signals[block], SHMEM_CMP_GE, number), number);
    for (int i = 0; i < share; ++i) EXPECT_EQ(dest[i], value_of(left, block * share + i, round));
    shmem_uint64_atomic_add(&m.signals[kBlocks + block], 1, left);
    shmem_uint64_wait_until(&m.signals[kBlocks + block], SHMEM_CMP_GE, number);
    shmem_quiet();
    return 0;
  });
}

int add_all(const WorldView& world, const Memory& m, int npes) {
  return launch(world, kBlocks, kThreads, [&] {
    shmem_uint64_atomic_inc(&m.sums[0], 0);
    shmem_uint64_atomic_add(&m.sums[1], 3, npes - 1);
    shmem_uint64_atomic_fetch_add(&m.sums[2], 1, 0);
    shmem_signal_add(&m.sums[3], 2, 0);
    shmem_quiet();
    return 0;
  });
}

int check_sums(const WorldView& world, const Memory& m, int npes, int rounds) {
  return launch(world, 1, 1, [&] {
    const auto all = static_cast<uint64_t>(npes * kBlocks * kThreads * rounds);
    EXPECT_EQ(shmem_uint64_atomic_fetch(&m.sums[0], 0), all);
    EXPECT_EQ(shmem_uint64_atomic_fetch(&m.sums[1], npes - 1), 3 * all);
    EXPECT_EQ(shmem_uint64_atomic_fetch(&m.sums[2], 0), all);
    EXPECT_EQ(shmem_uint64_g(&m.sums[3], 0), 2 * all);
    return 0;
  });
}

int values_in_order(const WorldView& world, const Memory& m, int right) {
  return launch(world, kBlocks, 1, [&] {
    uint64_t* const word = &m.dest[emulation::block_in_grid()];
    for (uint64_t i = 1; i <= 20; ++i) {
      shmem_uint64_p(word, 2 * i, right);
      shmem_fence();
      shmem_uint64_p(word, 2 * i + 1, right);
      shmem_quiet();
      EXPECT_EQ(shmem_uint64_g(word, right), 2 * i + 1);
    }
    return 0;
  });
}

int collectives(const WorldView& world, const Memory& m, int me, int npes) {
  return launch(world, 1, 1, [&] {
    for (int round = 1; round <= 5; ++round) {
      for (const size_t n : {size_t{1}, size_t{40}, size_t{600}}) {
        for (size_t i = 0; i < n; ++i) m.source[i] = value_of(me, static_cast<int>(i), round);
        shmem_barrier_all();
        EXPECT_EQ(shmem_uint64_fcollect(SHMEM_TEAM_WORLD, m.dest, m.source, n), 0);
        for (int pe = 0; pe < npes; ++pe)
          for (size_t i = 0; i < n; ++i)
            EXPECT_EQ(m.dest[static_cast<size_t>(pe) * n + i], value_of(pe, static_cast<int>(i), round));
        EXPECT_EQ(shmem_uint64_broadcast(SHMEM_TEAM_WORLD, m.back, m.source, n, npes - 1), 0);
        for (size_t i = 0; i < n; ++i) EXPECT_EQ(m.back[i], value_of(npes - 1, static_cast<int>(i), round));
        EXPECT_EQ(shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, m.back, m.source, n), 0);
        for (size_t i = 0; i < n; ++i) {
          uint64_t sum = 0;
          for (int pe = 0; pe < npes; ++pe) sum += value_of(pe, static_cast<int>(i), round);
          EXPECT_EQ(m.back[i], sum);
        }
        shmem_barrier_all();
      }
    }
    return 0;
  });
}

int update_declared(const WorldView& world, const Declared& d, bool others, uint64_t round) {
  const auto context = static_cast<shmem_ctx_t>(d.context);
  return launch(world, kBlocks, kThreads, [&] {
    for (int pe = world.first_pe; pe < world.first_pe + world.node_npes; ++pe) {
      shmem_uint64_atomic_inc(&d.node_only[0], pe);
      shmem_signal_add(&d.node_only[1], 2, pe);
      shmem_ctx_uint64_atomic_fetch_add(context, &d.plain[1], 3, pe);
      shmem_uint64_atomic_set(&d.set_only[0], round, pe);
    }
    if (!others) return 0;
    const int me = shmem_my_pe();
    shmem_uint64_atomic_inc(&d.plain[0], 0);
    for (int pe = 0; pe < shmem_n_pes() && threads::rank_in_block() == 0; ++pe) {  // setting is for everybody
      shmem_signal_set(&d.set_only[1 + me], round, pe);
      shmem_signal_set(&d.node_only[2 + me], round, pe);
    }
    shmem_quiet();
    return 0;
  });
}

int check_declared(const WorldView& world, const Declared& d, uint64_t rounds, uint64_t rounds_of_others,
                   uint64_t by_host) {
  return launch(world, 1, 1, [&] {
    const uint64_t all = rounds * kBlocks * kThreads * static_cast<uint64_t>(world.node_npes);
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    EXPECT_EQ(shmem_uint64_atomic_fetch(&d.node_only[0], me), all + by_host);
    EXPECT_EQ(shmem_signal_fetch(&d.node_only[1]), 2 * all);
    EXPECT_EQ(shmem_uint64_atomic_fetch(&d.plain[1], me), 3 * all);
    EXPECT_EQ(shmem_uint64_g(&d.set_only[0], me), rounds);
    for (int pe = 0; pe < npes; ++pe) {
      EXPECT_EQ(shmem_signal_fetch(&d.set_only[1 + pe]), rounds);
      EXPECT_EQ(shmem_signal_fetch(&d.node_only[2 + pe]), rounds);
    }
    EXPECT_EQ(shmem_uint64_atomic_fetch(&d.plain[0], 0),
              rounds_of_others * kBlocks * kThreads * static_cast<uint64_t>(npes));
    return 0;
  });
}

int team_and_context(const WorldView& world, const Memory& m, void* team_handle, void* context_handle, int me,
                     int npes) {
  const auto team = static_cast<shmem_team_t>(team_handle);
  const auto context = static_cast<shmem_ctx_t>(context_handle);
  return launch(world, 1, 1, [&] {
    const int rank = shmem_team_my_pe(team);
    EXPECT_EQ(rank, npes - 1 - me);
    EXPECT_EQ(shmem_team_n_pes(team), npes);
    shmem_team_t of_context = SHMEM_TEAM_INVALID;
    EXPECT_EQ(shmem_ctx_get_team(context, &of_context), 0);
    EXPECT_EQ(of_context, team);
    for (uint64_t round = 1; round <= 10; ++round) {
      const int next = (rank + 1) % npes;  // of the team
      shmem_ctx_uint64_p(context, &m.dest[0], 1000 * round + static_cast<uint64_t>(rank), next);
      shmem_ctx_uint64_atomic_add(context, &m.dest[1], round, next);
      shmem_ctx_quiet(context);
      EXPECT_EQ(shmem_team_sync(team), 0);
      EXPECT_EQ(shmem_uint64_g(&m.dest[0], me), 1000 * round + static_cast<uint64_t>((rank + npes - 1) % npes));
      EXPECT_EQ(shmem_uint64_atomic_fetch(&m.dest[1], me), round * (round + 1) / 2);
      EXPECT_EQ(shmem_uint64_max_reduce(team, m.back, m.dest, 1), 0);
      EXPECT_EQ(m.back[0], 1000 * round + static_cast<uint64_t>(npes - 1));
      EXPECT_EQ(shmem_team_sync(team), 0);
    }
    return 0;
  });
}

int put_from(const WorldView& world, void* dest, const void* source, size_t nbytes, int pe) {
  emulation::own_memory = {static_cast<const std::byte*>(source), nbytes};
  // Without payload slots: threads of the host cannot read this memory, as threads of a kernel can.
  std::vector<ChannelView> channels(world.channels, world.channels + world.nchannels);
  for (ChannelView& channel : channels)
    for (PayloadView& pool : channel.payloads) pool = {};
  WorldView view = world;
  view.channels = channels.data();
  return launch(view, 1, 1, [&] {
    shmem_putmem_nbi(dest, source, nbytes, pe);
    shmem_quiet();
    return 0;
  });
}

int get_to(const WorldView& world, void* dest, const void* source, size_t nbytes, int pe) {
  emulation::own_memory = {static_cast<const std::byte*>(dest), nbytes};
  return launch(world, 1, 1, [&] {
    shmem_getmem_nbi(dest, source, nbytes, pe);
    shmem_quiet();
    return 0;
  });
}

int add_to(const WorldView& world, uint64_t* word, uint64_t value, int pe) {
  return launch(world, 1, 1, [&] {
    shmem_uint64_atomic_add(word, value, pe);
    shmem_quiet();
    return 0;
  });
}

int wait_for_ever(const WorldView& world, const Memory& m) {
  return launch(world, 1, 1, [&] {
    shmem_uint64_wait_until(&m.signals[0], SHMEM_CMP_EQ, ~uint64_t{0});
    return 0;
  });
}

int put_to(const WorldView& world, const Memory& m, int pe) {
  return launch(world, 1, 1, [&] {
    shmem_putmem(m.dest, m.source, 8, pe);
    return 0;
  });
}

}  // namespace railshmem::device_heap
