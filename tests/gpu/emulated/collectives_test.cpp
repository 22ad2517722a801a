// SPDX-License-Identifier: BSD-3-Clause
// Collectives of kernels, by every scope: among mapped PEs, far ones, and both.
#include <gtest/gtest.h>
#include <shmem.h>

#include <numeric>

#include "tests/gpu/emulated/emulated_job.h"

namespace railshmem::emulation {
namespace {

enum class Scope { thread, warp, block };

struct Case {
  int npes, node_npes;
  Scope scope;
};

class Collectives : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr uint64_t kDest = 64 << 10;

  Collectives() : job_({.npes = npes(), .node_npes = GetParam().node_npes}) {}
  static int npes() { return GetParam().npes; }
  static uint32_t threads() { return GetParam().scope == Scope::thread ? 1 : GetParam().scope == Scope::warp ? 5 : 37; }

  /// All PEs call one of the three forms: each is a callable of the PE's number.
  template <class Thread, class Warp, class Block>
  void call(const Thread& by_thread, const Warp& by_warp, const Block& by_block) {
    job_.run(1, threads(), [&](int pe) {
      if (GetParam().scope == Scope::thread) by_thread(pe);
      if (GetParam().scope == Scope::warp) by_warp(pe);
      if (GetParam().scope == Scope::block) by_block(pe);
    });
    for (int pe = 0; pe < npes(); ++pe) {
      ASSERT_EQ(job_.fault(pe).ready, 0u)
          << "PE " << pe << ": " << name_of(job_.fault(pe).call) << " status " << job_.fault(pe).status;
    }
  }
  int* source(int pe) { return job_.object<int>(pe); }
  int* dest(int pe) { return job_.object<int>(pe, kDest); }
  static int value(int pe, size_t i) { return pe * 1000003 + static_cast<int>(i); }
  void fill(size_t n) {
    for (int pe = 0; pe < npes(); ++pe) {
      for (size_t i = 0; i < n; ++i) source(pe)[i] = value(pe, i);
      std::fill(dest(pe), dest(pe) + n * static_cast<size_t>(npes()) + 1, -1);
    }
  }

  Job job_;
};

// One element, one packet and a bit, as many packets as a thread has in flight and one more, as many as a thread, a
// warp and a block send of a block, and a bit more of each, more than packets carry.
constexpr size_t kSizes[] = {1, 3, 8, 10, 32, 33, 100, 128, 129, 512, 513, 2500};

TEST_P(Collectives, NobodyLeavesASyncBeforeAllCame) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> arrived{0};
    std::atomic<int> early{0};
    const int everyone = npes() * static_cast<int>(threads());
    const auto around = [&](const auto& sync) {
      return [&, sync](int) {
        arrived++;
        sync();
        if (arrived.load() != everyone) early++;
      };
    };
    call(around([] { shmem_sync_all(); }), around([] { shmemx_sync_all_warp(); }),
         around([] { shmemx_sync_all_block(); }));
    EXPECT_EQ(early.load(), 0);
  }
}

/// Blocks that meet in turn: their numbers must not pass each other, so one channel carries them.
TEST(CollectivesOfBlocks, ATeamsMeetingsTakeOneChannel) {
  Job job({.npes = 2, .node_npes = 1, .nchannels = 4});
  std::atomic<uint32_t> turns[2] = {};
  job.run(3, 1, [&](int pe) {
    while (turns[pe].load() != block_in_grid()) portable::relax(255);
    shmem_sync_all();
    turns[pe]++;
  });
  for (int pe = 0; pe < 2; ++pe) {
    ASSERT_EQ(job.fault(pe).ready, 0u);
    std::vector<uint64_t> commands;
    for (uint32_t i = 0; i < 4; ++i) commands.push_back(*job.view(pe).channels[i].ring.head);
    EXPECT_EQ(commands, (std::vector<uint64_t>{3, 0, 0, 0}));
  }
}

TEST_P(Collectives, ABarrierCompletesPuts) {
  const auto exchange = [&](const auto& barrier) {
    return [&, barrier](int pe) {
      for (int round = 1; round <= 10; ++round) {
        if (thread_in_block() == 0) {
          for (int to = 0; to < npes(); ++to) shmem_int_p(dest(pe) + pe, round * 100 + pe, to);
        }
        barrier();
        if (thread_in_block() == threads() - 1) {
          for (int from = 0; from < npes(); ++from) EXPECT_EQ(dest(pe)[from], round * 100 + from);
        }
        barrier();
      }
    };
  };
  call(exchange([] { shmem_barrier_all(); }), exchange([] { shmemx_barrier_all_warp(); }),
       exchange([] { shmemx_barrier_all_block(); }));
}

TEST_P(Collectives, FcollectJoinsBlocks) {
  for (const size_t n : kSizes) {
    fill(n);
    call([&](int pe) { EXPECT_EQ(shmem_int_fcollect(SHMEM_TEAM_WORLD, dest(pe), source(pe), n), 0); },
         [&](int pe) { EXPECT_EQ(shmemx_int_fcollect_warp(SHMEM_TEAM_WORLD, dest(pe), source(pe), n), 0); },
         [&](int pe) { EXPECT_EQ(shmemx_int_fcollect_block(SHMEM_TEAM_WORLD, dest(pe), source(pe), n), 0); });
    for (int pe = 0; pe < npes(); ++pe) {
      for (size_t i = 0; i < n * static_cast<size_t>(npes()); ++i) {
        ASSERT_EQ(dest(pe)[i], value(static_cast<int>(i / n), i % n)) << n << " elements, PE " << pe << ", " << i;
      }
      EXPECT_EQ(dest(pe)[n * static_cast<size_t>(npes())], -1);
    }
  }
}

TEST_P(Collectives, AlltoallTurnsBlocks) {
  for (const size_t n : kSizes) {
    fill(n * static_cast<size_t>(npes()));
    call([&](int pe) { EXPECT_EQ(shmem_int_alltoall(SHMEM_TEAM_WORLD, dest(pe), source(pe), n), 0); },
         [&](int pe) { EXPECT_EQ(shmemx_int_alltoall_warp(SHMEM_TEAM_WORLD, dest(pe), source(pe), n), 0); },
         [&](int pe) { EXPECT_EQ(shmemx_int_alltoall_block(SHMEM_TEAM_WORLD, dest(pe), source(pe), n), 0); });
    for (int pe = 0; pe < npes(); ++pe) {
      for (size_t i = 0; i < n * static_cast<size_t>(npes()); ++i) {
        ASSERT_EQ(dest(pe)[i], value(static_cast<int>(i / n), static_cast<size_t>(pe) * n + i % n)) << n << " " << i;
      }
    }
  }
}

TEST_P(Collectives, BroadcastFromEveryRoot) {
  for (const size_t n : kSizes) {
    for (int root = 0; root < npes(); ++root) {
      fill(n);
      call([&](int pe) { EXPECT_EQ(shmem_int_broadcast(SHMEM_TEAM_WORLD, dest(pe), source(pe), n, root), 0); },
           [&](int pe) { EXPECT_EQ(shmemx_int_broadcast_warp(SHMEM_TEAM_WORLD, dest(pe), source(pe), n, root), 0); },
           [&](int pe) { EXPECT_EQ(shmemx_int_broadcast_block(SHMEM_TEAM_WORLD, dest(pe), source(pe), n, root), 0); });
      for (int pe = 0; pe < npes(); ++pe) {
        for (size_t i = 0; i < n; ++i) ASSERT_EQ(dest(pe)[i], value(root, i)) << n << " elements, root " << root;
        EXPECT_EQ(dest(pe)[n], -1);
      }
    }
  }
}

TEST_P(Collectives, CollectOfAnySizes) {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{900}}) {
    const auto mine = [&](int pe) { return n * static_cast<size_t>(pe + 1) % 1001; };
    fill(1001);
    call([&](int pe) { EXPECT_EQ(shmem_int_collect(SHMEM_TEAM_WORLD, dest(pe), source(pe), mine(pe)), 0); },
         [&](int pe) { EXPECT_EQ(shmemx_int_collect_warp(SHMEM_TEAM_WORLD, dest(pe), source(pe), mine(pe)), 0); },
         [&](int pe) { EXPECT_EQ(shmemx_int_collect_block(SHMEM_TEAM_WORLD, dest(pe), source(pe), mine(pe)), 0); });
    for (int pe = 0; pe < npes(); ++pe) {
      size_t at = 0;
      for (int from = 0; from < npes(); ++from) {
        for (size_t i = 0; i < mine(from); ++i) ASSERT_EQ(dest(pe)[at++], value(from, i));
      }
      EXPECT_EQ(dest(pe)[at], -1);
    }
  }
}

TEST_P(Collectives, AlltoallsOfSpacedElements) {
  constexpr ptrdiff_t kTo = 3, kFrom = 2;
  const size_t n = 40, all = n * static_cast<size_t>(npes());
  fill(all * kTo);
  call(
      [&](int pe) { EXPECT_EQ(shmem_int_alltoalls(SHMEM_TEAM_WORLD, dest(pe), source(pe), kTo, kFrom, n), 0); },
      [&](int pe) { EXPECT_EQ(shmemx_int_alltoalls_warp(SHMEM_TEAM_WORLD, dest(pe), source(pe), kTo, kFrom, n), 0); },
      [&](int pe) { EXPECT_EQ(shmemx_int_alltoalls_block(SHMEM_TEAM_WORLD, dest(pe), source(pe), kTo, kFrom, n), 0); });
  for (int pe = 0; pe < npes(); ++pe) {
    for (size_t i = 0; i < all * kTo; ++i) {
      const size_t element = i / kTo;
      const int expected =
          i % kTo != 0 ? -1 : value(static_cast<int>(element / n), (static_cast<size_t>(pe) * n + element % n) * kFrom);
      ASSERT_EQ(dest(pe)[i], expected) << i;
    }
  }
}

template <class T>
T* as(int* at) {
  return reinterpret_cast<T*>(at);
}

TEST_P(Collectives, ReductionsInPlaceAndElsewhere) {
  for (const size_t n : kSizes) {
    for (const bool in_place : {false, true}) {
      fill(n);
      const auto into = [&](int pe) { return in_place ? source(pe) : dest(pe); };
      call([&](int pe) { EXPECT_EQ(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, into(pe), source(pe), n), 0); },
           [&](int pe) { EXPECT_EQ(shmemx_int_sum_reduce_warp(SHMEM_TEAM_WORLD, into(pe), source(pe), n), 0); },
           [&](int pe) { EXPECT_EQ(shmemx_int_sum_reduce_block(SHMEM_TEAM_WORLD, into(pe), source(pe), n), 0); });
      for (size_t i = 0; i < n; ++i) {
        int sum = 0;
        for (int pe = 0; pe < npes(); ++pe) sum += value(pe, i);
        for (int pe = 0; pe < npes(); ++pe) ASSERT_EQ(into(pe)[i], sum) << n << " elements, element " << i;
      }
    }
  }
}

/// dest apart, and in place: as the own part of source.
TEST_P(Collectives, ReducescatterDealsTheResultOut) {
  for (const size_t n : kSizes) {
    for (const bool in_place : {false, true}) {
      fill(n * static_cast<size_t>(npes()));
      const auto into = [&](int pe) { return in_place ? source(pe) + static_cast<size_t>(pe) * n : dest(pe); };
      call(
          [&](int pe) { EXPECT_EQ(shmemx_int_sum_reducescatter(SHMEM_TEAM_WORLD, into(pe), source(pe), n), 0); },
          [&](int pe) { EXPECT_EQ(shmemx_int_sum_reducescatter_warp(SHMEM_TEAM_WORLD, into(pe), source(pe), n), 0); },
          [&](int pe) { EXPECT_EQ(shmemx_int_sum_reducescatter_block(SHMEM_TEAM_WORLD, into(pe), source(pe), n), 0); });
      for (int pe = 0; pe < npes(); ++pe) {
        for (size_t i = 0; i < n; ++i) {
          int sum = 0;
          for (int from = 0; from < npes(); ++from) sum += value(from, static_cast<size_t>(pe) * n + i);
          ASSERT_EQ(into(pe)[i], sum) << n << " elements, element " << i << " of PE " << pe;
        }
      }
    }
  }
}

TEST_P(Collectives, ReductionsOfOtherTypesAndOperations) {
  const size_t n = 11;
  for (int pe = 0; pe < npes(); ++pe) {
    for (size_t i = 0; i < n; ++i) {
      as<double>(source(pe))[i] = 1.0 + pe + static_cast<double>(i) / 8;
      as<unsigned char>(source(pe) + 100)[i] = static_cast<unsigned char>(0xf0 | (1 << pe));
      as<short>(source(pe) + 200)[i] = static_cast<short>((pe % 2 ? -1 : 1) * static_cast<int>(i + 1));
    }
  }
  call(
      [&](int pe) {
        shmem_double_prod_reduce(SHMEM_TEAM_WORLD, as<double>(dest(pe)), as<double>(source(pe)), n);
        shmem_uchar_and_reduce(SHMEM_TEAM_WORLD, as<unsigned char>(dest(pe) + 100), as<unsigned char>(source(pe) + 100),
                               n);
        shmem_max_reduce(SHMEM_TEAM_WORLD, as<short>(dest(pe) + 200), as<short>(source(pe) + 200), n);
      },
      [&](int pe) {
        shmemx_double_prod_reduce_warp(SHMEM_TEAM_WORLD, as<double>(dest(pe)), as<double>(source(pe)), n);
        shmemx_uchar_and_reduce_warp(SHMEM_TEAM_WORLD, as<unsigned char>(dest(pe) + 100),
                                     as<unsigned char>(source(pe) + 100), n);
        shmemx_short_max_reduce_warp(SHMEM_TEAM_WORLD, as<short>(dest(pe) + 200), as<short>(source(pe) + 200), n);
      },
      [&](int pe) {
        shmemx_double_prod_reduce_block(SHMEM_TEAM_WORLD, as<double>(dest(pe)), as<double>(source(pe)), n);
        shmemx_uchar_and_reduce_block(SHMEM_TEAM_WORLD, as<unsigned char>(dest(pe) + 100),
                                      as<unsigned char>(source(pe) + 100), n);
        shmemx_short_max_reduce_block(SHMEM_TEAM_WORLD, as<short>(dest(pe) + 200), as<short>(source(pe) + 200), n);
      });
  for (int pe = 0; pe < npes(); ++pe) {
    for (size_t i = 0; i < n; ++i) {
      double product = 1.0 + static_cast<double>(i) / 8;
      for (int from = 1; from < npes(); ++from) product *= 1.0 + from + static_cast<double>(i) / 8;
      EXPECT_EQ(as<double>(dest(pe))[i], product);
      EXPECT_EQ(as<unsigned char>(dest(pe) + 100)[i], npes() == 1 ? 0xf1 : 0xf0);
      EXPECT_EQ(as<short>(dest(pe) + 200)[i], static_cast<short>(i + 1));
    }
  }
}

/// Kinds follow each other without a barrier: places of one must not be taken for those of another.
TEST_P(Collectives, OneAfterTheOtherWithoutABarrier) {
  fill(600);
  const auto many = [&](const auto& gather, const auto& spread, const auto& add, const auto& meet) {
    return [&, gather, spread, add, meet](int pe) {
      for (int round = 0; round < 12; ++round) {
        const size_t n = round % 3 == 0 ? 600 : 4;
        EXPECT_EQ(gather(dest(pe), source(pe), n), 0);
        EXPECT_EQ(spread(dest(pe) + 10000, source(pe), n, round % npes()), 0);
        EXPECT_EQ(spread(dest(pe) + 20000, source(pe), n, round % npes()), 0);
        if (thread_in_block() == 0) {
          for (size_t i = 0; i < n; ++i) {
            EXPECT_EQ(dest(pe)[i], value(0, i));
            EXPECT_EQ(dest(pe)[10000 + i], value(round % npes(), i));
          }
        }
        EXPECT_EQ(add(dest(pe) + 30000, source(pe), n), 0);
        if (round % 4 == 0) meet();
        // Reading is over on all members before the next round writes.
        meet();
      }
    };
  };
  const auto world = SHMEM_TEAM_WORLD;
  call(many([&](int* d, int* s, size_t n) { return shmem_int_fcollect(world, d, s, n); },
            [&](int* d, int* s, size_t n, int r) { return shmem_int_broadcast(world, d, s, n, r); },
            [&](int* d, int* s, size_t n) { return shmem_int_sum_reduce(world, d, s, n); },
            [&] { shmem_team_sync(world); }),
       many([&](int* d, int* s, size_t n) { return shmemx_int_fcollect_warp(world, d, s, n); },
            [&](int* d, int* s, size_t n, int r) { return shmemx_int_broadcast_warp(world, d, s, n, r); },
            [&](int* d, int* s, size_t n) { return shmemx_int_sum_reduce_warp(world, d, s, n); },
            [&] { shmemx_team_sync_warp(world); }),
       many([&](int* d, int* s, size_t n) { return shmemx_int_fcollect_block(world, d, s, n); },
            [&](int* d, int* s, size_t n, int r) { return shmemx_int_broadcast_block(world, d, s, n, r); },
            [&](int* d, int* s, size_t n) { return shmemx_int_sum_reduce_block(world, d, s, n); },
            [&] { shmemx_team_sync_block(world); }));
}

INSTANTIATE_TEST_SUITE_P(Jobs, Collectives,
                         ::testing::Values(Case{1, 1, Scope::thread}, Case{2, 2, Scope::thread},
                                           Case{3, 3, Scope::warp}, Case{4, 4, Scope::block}, Case{3, 1, Scope::thread},
                                           Case{2, 1, Scope::block}, Case{4, 2, Scope::warp},
                                           Case{4, 2, Scope::thread}),
                         [](const auto& instance) {
                           const Case& c = instance.param;
                           return std::string(c.scope == Scope::thread ? "Thread"
                                              : c.scope == Scope::warp ? "Warp"
                                                                       : "Block") +
                                  std::to_string(c.npes) + "By" + std::to_string(c.node_npes);
                         });

TEST(Teams, HalfOfTheWorldInReverse) {
  Job job({.npes = 4, .node_npes = 4});
  constexpr uint64_t kHandle = (3 << 24) + 3;  // slot 2
  for (int pe = 0; pe < 4; ++pe) job.team(pe, 2) = {kHandle, 3, -2, 2, pe == 3 ? 0 : pe == 1 ? 1 : -1, nullptr, 0, 2};
  const auto team = reinterpret_cast<shmem_team_t>(uintptr_t{kHandle});
  run({{&job.view(1), 1, 3, [&] { shmemx_long_fcollect_block(team, job.object<long>(1), job.object<long>(1, 64), 1); }},
       {&job.view(3), 1, 3,
        [&] { shmemx_long_fcollect_block(team, job.object<long>(3), job.object<long>(3, 64), 1); }}});
  job.run_on(0, 1, 1, [&] { EXPECT_NE(shmem_team_sync(team), 0); });  // not in it
  EXPECT_STREQ(name_of(job.fault(0).call), "team_sync");
  EXPECT_EQ(static_cast<ChannelStatus>(job.fault(0).status), ChannelStatus::bad_handle);
}

TEST(Teams, MoreThanAFewPesSyncInRounds) {
  Job job({.npes = 40, .node_npes = 40, .teams = 1});
  std::atomic<int> arrived{0}, early{0};
  job.run(1, 1, [&](int) {
    for (int round = 1; round <= 3; ++round) {
      arrived++;
      shmem_sync_all();
      if (arrived.load() < round * 40) early++;
    }
  });
  EXPECT_EQ(early.load(), 0);
  for (int pe = 0; pe < 40; ++pe) *job.object<int>(pe) = pe;
  job.run(1, 2, [&](int pe) {
    EXPECT_EQ(shmemx_int_sum_reduce_block(SHMEM_TEAM_WORLD, job.object<int>(pe, 64), job.object<int>(pe), 1), 0);
    EXPECT_EQ(*job.object<int>(pe, 64), 40 * 39 / 2);
  });
}

TEST(Teams, AMissingMemberEndsACollectiveByTheDeadline) {
  Job job({.npes = 2, .node_npes = 2, .timeout_ns = 50'000'000});
  std::atomic<int> failed{0};  // of the threads that waited for it
  job.run_on(0, 1, 3, [&] { failed += shmemx_team_sync_block(SHMEM_TEAM_WORLD); });
  EXPECT_EQ(failed.load(), 1);
  EXPECT_EQ(static_cast<ChannelStatus>(job.fault(0).status), ChannelStatus::timeout);
  job.run_on(1, 1, 1, [&] {
    EXPECT_NE(shmem_int_fcollect(SHMEM_TEAM_WORLD, job.object<int>(1), job.object<int>(1, 64), 1), 0);
  });
}

}  // namespace
}  // namespace railshmem::emulation
