// SPDX-License-Identifier: BSD-3-Clause
// ring: what the command ring between a producer and the proxy costs, without any network. The measurement reaches
// into the library, so only the library's own build has it (RAILSHMEM_PERF_RING).
#ifdef RAILSHMEM_PERF_RING
#include "perftest/ring/ring_bench.h"

#include "perftest/harness/context.h"

namespace railshmem::perf {
namespace {

constexpr uint64_t kCommandBytes = 64;

void ring(Context& context) {
  const long iters = context.options.iters.value_or(0);
  perftest::RingBenchOptions options;
  if (iters) options.commands = options.round_trips = static_cast<uint64_t>(iters);
  std::vector<perftest::RingFigures> all;
  for (int r = 0; r < context.options.repetitions; ++r) all.push_back(perftest::measure_ring(options));
  const auto add = [&](const char* metric, const char* unit, double scale, double perftest::RingFigures::*field,
                       bool large_is_good, double perftest::RingFigures::*slow = nullptr) {
    std::vector<double> values, slow_values;
    for (const auto& figures : all) {
      values.push_back(figures.*field * scale);
      slow_values.push_back(figures.*(slow ? slow : field) * scale);
    }
    const double p99 = slow ? median(slow_values) : percentile(slow_values, large_is_good ? 0.01 : 0.99);
    context.add(metric, unit, kCommandBytes, median(values), median(values), p99,
                static_cast<long>(slow ? options.round_trips : options.commands));
  };
  using Figures = perftest::RingFigures;
  add("single_thread", "us", 1e-3, &Figures::single_thread_ns, false);
  add("private_push", "us", 1e-3, &Figures::private_push_ns, false);
  add("consume", "Mops/s", 1, &Figures::consume_mops, true);
  add("rate", "Mops/s", 1, &Figures::throughput_mops, true);
  add("round_trip", "us", 1, &Figures::round_trip_us, false, &Figures::round_trip_p99_us);
}

const Register bench({"ring", "command ring: cost of a command, rate and round trip", Place::floor, {64, 64}, ring});

}  // namespace
}  // namespace railshmem::perf
#endif
