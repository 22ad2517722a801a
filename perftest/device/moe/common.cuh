// SPDX-License-Identifier: BSD-3-Clause
// Shapes of layers with experts, and times of their dispatches and combines.
#pragma once

#include <sstream>

#include "perftest/device/replay.cuh"

namespace railshmem::perf::gpu {

using Word = uint16_t;  // a bf16

struct MoeShape {
  int tokens = 0, hidden = 0, experts = 0;
  std::string name;
};
inline MoeShape shape_of(const std::string& word) {
  MoeShape shape;
  shape.name = word;
  char x = 0;
  std::istringstream(word) >> shape.tokens >> x >> shape.hidden >> x >> shape.experts;
  if (shape.tokens == 0)
    throw std::runtime_error("--shapes " + word + ": moe benches need tokens x channels x experts");
  return shape;
}

/// Calls of one measurement, of tokens of so many bytes. Equal on all PEs, though other tokens cross from each: PEs
/// that made different numbers of calls would wait for each other in vain.
inline long calls_of(const Context& context, const MoeShape& shape, uint64_t token_nbytes) {
  return iterations(context.options, static_cast<uint64_t>(shape.tokens) * token_nbytes, 200);
}

inline uint32_t mixed(uint32_t a, uint32_t b) {
  uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;
  h = (h ^ h >> 15) * 0xc2b2ae35u;
  return h ^ h >> 13;
}

inline void must(int status) {
  if (status != 0) throw std::runtime_error("the library refused a call");
}

/// Seconds that `iters` dispatches and combines took, each between its own events.
struct Times {
  double dispatch = 0, combine = 0;
};
template <class Layer>
Times times_of(Context& context, Layer& layer, long iters) {
  std::vector<Event> events;
  for (long i = 0; i < 3 * iters; ++i) events.push_back(make_event());
  context.barrier();
  for (long i = 0; i < iters; ++i) {
    CUDA_CHECK(cudaEventRecord(events[static_cast<size_t>(3 * i)].get(), context.stream()));
    layer.dispatch();
    CUDA_CHECK(cudaEventRecord(events[static_cast<size_t>(3 * i + 1)].get(), context.stream()));
    if (layer.combines()) layer.combine();
    CUDA_CHECK(cudaEventRecord(events[static_cast<size_t>(3 * i + 2)].get(), context.stream()));
  }
  context.finish();
  Times times;
  for (long i = 0; i < 3 * iters; i += 3) {
    float ms = 0;
    CUDA_CHECK(
        cudaEventElapsedTime(&ms, events[static_cast<size_t>(i)].get(), events[static_cast<size_t>(i + 1)].get()));
    times.dispatch += 1e-3 * static_cast<double>(ms);
    CUDA_CHECK(
        cudaEventElapsedTime(&ms, events[static_cast<size_t>(i + 1)].get(), events[static_cast<size_t>(i + 2)].get()));
    times.combine += 1e-3 * static_cast<double>(ms);
  }
  return times;
}

/// Seconds that a replay takes of this graph.
inline double seconds_of(Context& context, const Replay& replay) {
  const Event begin = make_event(), end = make_event();
  context.barrier();
  CUDA_CHECK(cudaEventRecord(begin.get(), context.stream()));
  replay.launch();
  CUDA_CHECK(cudaEventRecord(end.get(), context.stream()));
  context.finish();
  float ms = 0;
  CUDA_CHECK(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return 1e-3 * static_cast<double>(ms);
}

/// times_of() of calls in graphs.
template <class Layer>
class Graphs {
 public:
  Graphs(Context& context, Layer& layer, long iters)
      : context_(context),
        dispatches_(context.stream(), iters, [&] { layer.dispatch(); }),
        pairs_(context.stream(), layer.combines() ? iters : 1, [&] {
          layer.dispatch();
          if (layer.combines()) layer.combine();
        }) {}

  Times times() const {
    Times times;
    times.dispatch = seconds_of(context_, dispatches_);
    times.combine = seconds_of(context_, pairs_) - times.dispatch;
    return times;
  }

 private:
  Context& context_;
  const Replay dispatches_, pairs_;
};

}  // namespace railshmem::perf::gpu
