// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/timing.h"

#include <algorithm>
#include <cmath>

namespace railshmem::perf {
namespace {

constexpr double kShortOperation = 500e-9;
constexpr long kGroup = 64;
constexpr double kUsefulSample = 2e-6;      // some CPUs' counters move in steps of 10 ns: half a percent of this
constexpr double kUsefulRepetition = 5e-3;  // long enough to hide one timer interrupt among the samples
constexpr long kUsefulIters = 10000;        // p99 of 11 repetitions then rests on 1000 slow samples

}  // namespace

Plan plan_for(double op_seconds, const Options& options) {
  const double op = std::max(op_seconds, 1e-10);
  const double limit = options.seconds / options.repetitions;
  Plan plan;
  if (op < kShortOperation) plan.group = std::max(kGroup, static_cast<long>(kUsefulSample / op));
  const double wanted = options.iters ? static_cast<double>(*options.iters) * op
                                      : std::max(kUsefulRepetition, static_cast<double>(kUsefulIters) * op);
  // Rounded: 10 x 0.1 s must not come out as 9 operations.
  const long fitting = std::lround(std::min(wanted, limit) / op);
  plan.iters = std::max(1L, (std::max(1L, fitting) + plan.group - 1) / plan.group) * plan.group;
  return plan;
}

long warmup_for(double op_seconds, const Options& options) {
  const double fitting = 0.1 * options.seconds / std::max(op_seconds, 1e-10);
  return static_cast<long>(std::min(static_cast<double>(options.warmup), fitting));
}

int repetitions_for(double op_seconds, const Options& options) {
  const double fitting = options.seconds / std::max(op_seconds, 1e-10);
  return static_cast<int>(std::clamp(fitting, 1.0, static_cast<double>(options.repetitions)));
}

}  // namespace railshmem::perf
