// SPDX-License-Identifier: BSD-3-Clause
// From measured times to the numbers of a row.
#pragma once

#include <vector>

namespace railshmem::perf {

/// The middle of the sorted values, the mean of the two middle ones for an even count; 0 for none.
double median(std::vector<double> values);

/// Nearest rank: the smallest measured value that at least `fraction` of all do not exceed; 0 for none.
double percentile(std::vector<double> values, double fraction);

/// Mean of the middle half (at least one value): finer than a coarse clock's median, and blind to the few samples in
/// which the scheduler ran something else; 0 for none.
double midmean(std::vector<double> values);

/// Seconds per operation of one row.
struct Distribution {
  double value = 0;  ///< median over the repetitions of their midmean
  double p50 = 0;    ///< over all samples
  double p99 = 0;
  long iters = 0;  ///< operations measured
};

/// What the repetitions of one row measured.
struct Series {
  std::vector<double> samples;           ///< seconds per operation, one per timed group
  std::vector<double> repetition_means;  ///< seconds per operation, one per repetition
  long iters = 0;
};

Distribution distribution(const Series& series);

}  // namespace railshmem::perf
