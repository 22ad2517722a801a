// SPDX-License-Identifier: BSD-3-Clause
// The rows of a run on GPUs and the three ways to print them. The JSON has every key that the rows of shmem_perf have.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "perftest/device/options.h"

namespace railshmem::perf::gpu {

/// How a collective was called.
struct Variant {
  std::string order;   ///< graph: replayed by a CUDA graph; stream: put into the stream call by call
  std::string memory;  ///< kind of memory of its buffers: heap, registered, unregistered
  std::string dtype;
  bool in_place = false;
  std::string shape = {};  ///< of an overlapped product, and its pieces
};

struct Row {
  std::string bench;
  int pes = 1;
  std::string scope;
  unsigned ctas = 1;
  unsigned threads = 1;
  uint64_t bytes = 0;
  std::string metric;  ///< bandwidth, rate, latency, round_trip, issue, ratio
  std::string unit;    ///< GB/s, Mops/s, us, ratio
  double value = 0;    ///< median over the repetitions
  double p50 = 0;
  double p99 = 0;  ///< the slow end: 99 of 100 repetitions were at least as good
  long iters = 0;
  std::optional<bool> validated;
  std::optional<Variant> variant;
  std::optional<double> algorithm_bandwidth;  ///< GB/s: the full vector by time
  std::optional<double> bus_bandwidth;        ///< GB/s: what each GPU's link carries in one direction by time
};

/// What every row of a run has in common.
struct Stamp {
  std::string host;
  std::string date;
  std::string library;  ///< name and version of what is measured
  std::string gpu;
  std::string driver;  ///< newest CUDA version that it serves
  std::string reach;   ///< how PE 0 reaches its peer: direct (load/store), proxy, or the library's choice
};
Stamp make_stamp();

/// From the seconds that `operations` operations took in each repetition. Times: microseconds for one.
void set_time(Row& row, const std::vector<double>& seconds, double operations);
/// Throughput: `amount` in each repetition, in the row's unit after division by 1e9 (GB/s) or 1e6 (Mops/s).
void set_throughput(Row& row, const std::vector<double>& seconds, double amount, double scale);
/// Times by times of something else, which were measured in turns: pair by pair.
void set_ratio(Row& row, const std::vector<double>& seconds, const std::vector<double>& others);

/// From the row's time, which is in us. `factor`: bus bandwidth by algorithm bandwidth.
void set_bandwidths(Row& row, double factor);

void write(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp, Format format);

}  // namespace railshmem::perf::gpu
