// SPDX-License-Identifier: BSD-3-Clause
// The time of calls that the host puts into a stream one by one, or that a graph replays.
#pragma once

#include "perftest/device/coll/kind.h"
#include "perftest/device/measure.cuh"
#include "perftest/device/replay.cuh"

namespace railshmem::perf::gpu::coll {

/// Sets the row's time and bandwidths. `call()` puts one call into the context's stream; all PEs that act call it
/// equally often. `factor`: bus bandwidth by algorithm bandwidth.
template <class Call>
void time_calls(Context& context, Row& row, double factor, Call&& call) {
  const Repeats repeats = repeats_of(row.bytes, context.options.common.iters);
  std::vector<double> seconds;
  if (context.options.graph) {
    const Replay replay(context.stream(), repeats.in_graph, call);
    seconds = event_timed(
        context, repeats.calls(), [] {},
        [&](long n) {
          for (long i = 0; i < n; i += repeats.in_graph) replay.launch();
        });
  } else {
    seconds = event_timed(
        context, repeats.calls(), [] {},
        [&](long n) {
          for (long i = 0; i < n; ++i) call();
        });
  }
  row.iters = repeats.calls() * context.options.common.repetitions;
  if (seconds.empty()) return;  // not PE 0, which alone keeps rows
  set_time(row, seconds, static_cast<double>(repeats.calls()));
  set_bandwidths(row, factor);
}

/// How the calls of this run come to the GPU, as rows name it.
inline const char* order_of(const Options& options) {
  return options.graph ? "graph" : "stream";
}

}  // namespace railshmem::perf::gpu::coll
