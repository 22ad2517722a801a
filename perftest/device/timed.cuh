// SPDX-License-Identifier: BSD-3-Clause
// Kernels that time themselves: warm-up and all repetitions in one launch, so that no launch is measured.
#pragma once

#include "perftest/device/threads.cuh"

namespace railshmem::perf::gpu {

constexpr int kMostRepetitions = 1000;

/// The record that such a kernel leaves in GPU memory.
struct Record {
  uint64_t ns;                            ///< from the first to the last measured operation
  uint64_t cycles;                        ///< that time by the SM's clock: gives the clock's rate
  uint64_t turns;                         ///< operations done
  uint64_t well;                          ///< 1 when all of the operations had their effect
  uint64_t repetition[kMostRepetitions];  ///< cycles
};

struct Loop {
  Record* record;
  uint64_t limit_ns;  ///< for the whole kernel
  int warmup;
  int iters;
  int repetitions;
};

struct Nothing {
  __device__ void operator()() const {}
};

/// Calls op(turn, deadline) by all threads of the only scope of the grid, turn counting from 0. op returns one value to
/// all threads; false ends the loop. `between` runs between repetitions, unmeasured.
template <Scope kScope, class Op, class Between = Nothing>
__device__ inline void timed(const Loop& loop, Op&& op, Between&& between = Between()) {
  const uint64_t deadline = now_ns() + loop.limit_ns;
  uint64_t turn = 0;
  bool well = true;
#pragma unroll 1
  for (int i = 0; well && i < loop.warmup; ++i) well = op(turn++, deadline);
  between();
  const uint64_t start_ns = now_ns();
  const uint64_t start = cycles();
#pragma unroll 1
  for (int r = 0; well && r < loop.repetitions; ++r) {
    const uint64_t begin = cycles();
#pragma unroll 1
    for (int i = 0; well && i < loop.iters; ++i) well = op(turn++, deadline);
    const uint64_t took = cycles() - begin;
    if (leads<kScope>()) loop.record->repetition[r] = took;
    between();
    well = all<kScope>(well && now_ns() < deadline);
  }
  if (!leads<kScope>()) return;
  loop.record->ns = now_ns() - start_ns;
  loop.record->cycles = cycles() - start;
  loop.record->turns = turn;
  loop.record->well = well ? 1 : 0;
}

}  // namespace railshmem::perf::gpu
