// SPDX-License-Identifier: BSD-3-Clause
// What a bench sees of the job: its role, its peer, symmetric memory and the way to a row.
#pragma once

#include <shmem.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "perftest/harness/progress.h"
#include "perftest/harness/registry.h"
#include "perftest/harness/report.h"
#include "perftest/harness/timing.h"

// This source is also compiled against other OpenSHMEM libraries, for comparison; some know an older standard.
#define RAILSHMEM_PERF_HAS(major, minor) \
  (SHMEM_MAJOR_VERSION > (major) || (SHMEM_MAJOR_VERSION == (major) && SHMEM_MINOR_VERSION >= (minor)))

namespace railshmem::perf {

/// Symmetric memory, zeroed. Construction and destruction are collective.
class Symmetric {
 public:
  explicit Symmetric(size_t nbytes);
  /// Collective, but not while an exception passes: the other PEs may be in another call then.
  ~Symmetric();
  Symmetric(const Symmetric&) = delete;
  Symmetric& operator=(const Symmetric&) = delete;
  template <class T = char>
  T* as() const noexcept {
    return static_cast<T*>(address_);
  }

 private:
  void* address_;
};

class Context {
 public:
  Context(const Options& options, Report& report, double init_seconds);

  const Options& options;
  const int pe;
  const int npes;
  const double init_seconds;     ///< duration of this PE's shmem_init
  std::vector<uint64_t> sizes;   ///< message sizes of the current bench
  const Bench* bench = nullptr;  ///< the current one
  Progress* progress = nullptr;  ///< told of each row; of PE 0 alone

  /// Origins are the PEs below N/2, each with the peer N/2 above it; PEs outside every pair idle in the barriers.
  int pairs() const noexcept { return pairs_; }
  bool is_origin() const noexcept { return pe < pairs_; }
  bool is_target() const noexcept { return pe >= npes / 2 && pe < npes / 2 + pairs_; }
  int peer() const noexcept { return is_origin() ? pe + npes / 2 : pe - npes / 2; }
  uint64_t largest() const;

  /// PE 0's value on every PE. Collective.
  long agree(long value);
  /// All PEs' values on PE 0, empty elsewhere. Collective.
  std::vector<Distribution> gather(const Distribution& mine);
  double sum(double mine);  ///< on every PE; collective

  /// PE 0 runs `work` alone; the others sleep, so that no spinning PE takes a core from the measurement. What `work`
  /// throws is never std::invalid_argument, which all PEs would have to throw.
  template <class Work>
  void alone(Work&& work) {
    if (pe != 0) return sleep_until_released();
    try {
      work();
    } catch (const std::invalid_argument& e) {
      throw std::runtime_error(e.what());
    }
    release();
  }

  /// Add rows, on PE 0 alone (empty `by_origin` = no row). Latency: median over the origins, the worst p99 of them.
  void add_latency(const char* metric, uint64_t bytes, const std::vector<Distribution>& by_origin, double share = 1);
  /// GB/s for bytes, Mops/s for operations. `amount` is the bytes or operations of one measured operation; origins add
  /// up.
  void add_bandwidth(uint64_t bytes, double amount, const std::vector<Distribution>& by_origin);
  void add_rate(uint64_t bytes, double amount, const std::vector<Distribution>& by_origin);
  /// A floor's row: no PE pairs, one process.
  void add(const char* metric, const char* unit, uint64_t bytes, double value, double p50, double p99, long iters);

  /// Counts and reports wrong bytes; `what` says where.
  void mismatch(const std::string& what);
  /// Ends a checked round: whether every PE was content goes into the rows that follow. Collective.
  void conclude_check();
  uint64_t mismatches() const noexcept { return all_mismatches_; }
  std::optional<bool> validated;  ///< of the rows to come; reset by main before each bench

 private:
  void sleep_until_released();
  void release();
  void add_throughput(const char* metric, const char* unit, double scale, uint64_t bytes, double amount,
                      const std::vector<Distribution>& by_origin);

  struct Shared {
    long agreed;
    long released;
    double total;
  };
  Report& report_;
  int pairs_ = 0;
  Symmetric shared_memory_;
  Shared* shared_;
  Symmetric gathered_;
  long floors_ = 0;
  uint64_t my_mismatches_ = 0;
  uint64_t all_mismatches_ = 0;
};

}  // namespace railshmem::perf
