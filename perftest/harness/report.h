// SPDX-License-Identifier: BSD-3-Clause
// The rows of a run and the three ways to print them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "perftest/harness/options.h"
#include "perftest/harness/registry.h"

namespace railshmem::perf {

struct Row {
  std::string bench;
  std::string transport;
  std::string provider;
  int pes = 1;
  uint64_t bytes = 0;
  std::string metric;  ///< bandwidth, rate, latency, one_way, round_trip, init
  std::string unit;
  double value = 0;
  double p50 = 0;
  double p99 = 0;  ///< the slow end: 99 of 100 samples were at least as good
  long iters = 0;
  std::optional<bool> validated;
  std::optional<double> floor;
  std::optional<double> ratio;  ///< value / floor
};

/// What every row of a run has in common.
struct Stamp {
  std::string host;
  std::string version;
  std::string date;
};
Stamp make_stamp(const std::string& version);

class Report {
 public:
  explicit Report(Stamp stamp) : stamp_(std::move(stamp)) {}

  void add(Row row) { rows_.push_back(std::move(row)); }
  const std::vector<Row>& rows() const noexcept { return rows_; }

  /// Compares the rows from index `first` on with the newest row of the floor for their message size; a size of 0 (no
  /// message) fits any.
  void compare(size_t first, const FloorOf& floor);

  void write(std::ostream& out, Format format) const;

 private:
  Stamp stamp_;
  std::vector<Row> rows_;
};

/// Rows that differ only in the round they come from become one: medians of the numbers, validated if all were.
std::vector<Row> merge_rounds(const std::vector<Row>& rows);

}  // namespace railshmem::perf
