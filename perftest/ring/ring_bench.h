// SPDX-License-Identifier: BSD-3-Clause
// The cost of the command ring on this host, without any network.
#pragma once

#include <cstdint>

namespace railshmem::perftest {

struct RingFigures {
  double single_thread_ns;  ///< encode + push + peek + decode + pop of one command, one thread
  double private_push_ns;   ///< single_thread_ns with a producer that owns the ring (no atomic, no doorbell)
  double consume_mops;      ///< the proxy's side alone: peek, complete and pop of commands that are there
  double throughput_mops;   ///< one producer thread to one consumer thread
  double round_trip_us;     ///< push, the other thread completes it, the producer sees that: median
  double round_trip_p99_us;
};

struct RingBenchOptions {
  uint32_t log2_slots = 10;
  uint64_t commands = 2000000;  // half a second at the rates to expect
  uint64_t round_trips = 20000;
};

/// Runs alone for about a second on two threads of the caller's affinity mask. With one CPU, throughput and round trips
/// measure the scheduler.
RingFigures measure_ring(const RingBenchOptions& options = {});

}  // namespace railshmem::perftest
