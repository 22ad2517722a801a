// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace railshmem::perf {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double percentile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  const double rank = std::ceil(fraction * static_cast<double>(values.size()));
  const double last = static_cast<double>(values.size() - 1);
  const auto index = static_cast<std::ptrdiff_t>(std::clamp(rank - 1, 0.0, last));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<size_t>(index)];
}

double midmean(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
  const auto first = values.begin() + quarter;
  const auto last = values.end() - quarter;
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

Distribution distribution(const Series& series) {
  return {median(series.repetition_means), percentile(series.samples, 0.50), percentile(series.samples, 0.99),
          series.iters};
}

}  // namespace railshmem::perf
