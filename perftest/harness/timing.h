// SPDX-License-Identifier: BSD-3-Clause
// How often to run an operation, and the loop that times it. Knows nothing of SHMEM: floors use it too.
#pragma once

#include <algorithm>

#include "perftest/harness/clock.h"
#include "perftest/harness/options.h"
#include "perftest/harness/stats.h"

namespace railshmem::perf {

struct Plan {
  long iters = 1;  ///< operations per repetition, a multiple of group
  long group = 1;  ///< operations per clock reading
};

/// Operations shorter than 500 ns are timed 64 or more at a time: a reading costs about 20 ns and disturbs the
/// pipeline.
Plan plan_for(double op_seconds, const Options& options);

/// Warm-up operations that fit into a tenth of the time limit.
long warmup_for(double op_seconds, const Options& options);

/// Repetitions of one operation or more that fit into the time limit: at least one, at most those asked for.
int repetitions_for(double op_seconds, const Options& options);

template <class Op>
double seconds_of(long n, Op&& op) {
  const uint64_t start = ticks();
  for (long i = 0; i < n; ++i) op();
  return static_cast<double>(ticks() - start) * seconds_per_tick();
}

/// One repetition. The clock's own cost is subtracted from each sample.
template <class Op>
void run_repetition(const Plan& plan, Op&& op, Series& series) {
  const double scale = seconds_per_tick() / static_cast<double>(plan.group);
  const uint64_t overhead = tick_overhead();
  const long samples = plan.iters / plan.group;
  std::vector<double> repetition;
  repetition.reserve(static_cast<size_t>(samples));
  for (long s = 0; s < samples; ++s) {
    const uint64_t start = ticks();
    for (long i = 0; i < plan.group; ++i) op();
    const uint64_t taken = ticks() - start;
    repetition.push_back(static_cast<double>(taken > overhead ? taken - overhead : 0) * scale);
  }
  series.samples.insert(series.samples.end(), repetition.begin(), repetition.end());
  series.repetition_means.push_back(midmean(std::move(repetition)));
  series.iters += plan.iters;
}

/// Warm-up and all repetitions of an operation that needs no other PE: floors.
template <class Op>
Distribution measure_alone(const Options& options, Op&& op) {
  op();
  const double first = seconds_of(1, op);
  const long warmup = std::max(1L, warmup_for(first, options));
  const Plan plan = plan_for(seconds_of(warmup, op) / static_cast<double>(warmup), options);
  Series series;
  for (int r = 0; r < options.repetitions; ++r) run_repetition(plan, op, series);
  return distribution(series);
}

}  // namespace railshmem::perf
