// SPDX-License-Identifier: BSD-3-Clause
// From launches to seconds: kernels that time themselves, and launches between two events.
#pragma once

#include <algorithm>

#include "perftest/device/context.cuh"

namespace railshmem::perf::gpu {

/// Seconds of each repetition on PE 0, nothing elsewhere. `launch(loop)` starts a kernel around timed().
template <class Launch>
std::vector<double> self_timed(Context& context, long iters, Launch&& launch) {
  const Gpu<Record> record = allocate_gpu<Record>(1);
  const Loop loop{record.get(), context.limit_ns(), static_cast<int>(context.options.common.warmup),
                  static_cast<int>(iters), context.options.common.repetitions};
  context.barrier();
  if (context.acts()) launch(loop);
  context.barrier();
  if (!context.acts()) return {};
  Record result{};
  CUDA_CHECK(cudaMemcpy(&result, record.get(), sizeof result, cudaMemcpyDefault));
  if (result.well != 1)
    throw std::runtime_error(std::string(context.bench->name) + " by " + name_of(context.scope) + " stopped after " +
                             std::to_string(result.turns) + " operations: one ended without its effect, or --timeout " +
                             "passed");
  if (!context.first()) return {};
  const double seconds_per_cycle = 1e-9 * static_cast<double>(result.ns) / static_cast<double>(result.cycles);
  std::vector<double> seconds;
  for (int r = 0; r < loop.repetitions; ++r)
    seconds.push_back(static_cast<double>(result.repetition[r]) * seconds_per_cycle);
  return seconds;
}

/// Times `launch(iters)` between two events, after a launch with a tenth of the operations; `before()` is not measured.
template <class Before, class Launch>
std::vector<double> event_timed(Context& context, long iters, Before&& before, Launch&& launch) {
  std::vector<double> seconds;
  context.barrier();
  if (context.acts()) {
    const Event begin = make_event(), end = make_event();
    before();
    launch(std::max(1L, iters / 10));
    context.finish();
    for (int r = 0; r < context.options.common.repetitions; ++r) {
      before();
      CUDA_CHECK(cudaEventRecord(begin.get(), context.stream()));
      launch(iters);
      CUDA_CHECK(cudaEventRecord(end.get(), context.stream()));
      context.finish();
      float milliseconds = 0;
      CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
      seconds.push_back(1e-3 * static_cast<double>(milliseconds));
    }
  }
  context.barrier();
  return context.first() ? seconds : std::vector<double>();
}

/// Adds the row of a self-timed operation.
template <class Launch>
void add_time(Context& context, const char* metric, uint64_t bytes, long usual_iters, std::optional<bool> validated,
              Launch&& launch) {
  const long iters = iterations(context.options, bytes, usual_iters);
  const std::vector<double> seconds = self_timed(context, iters, launch);
  Row row = context.row(metric, "us", bytes, 1, context.scope_threads());
  row.iters = iters * context.options.common.repetitions;
  row.validated = validated;
  set_time(row, seconds, static_cast<double>(iters));
  context.add(std::move(row));
}

/// Messages of one repetition: about a GiB, milliseconds at NVLink's speed, unless --iters says.
inline long messages_of(const Options& options, uint64_t bytes) {
  constexpr uint64_t kVolume = uint64_t{1} << 30;
  return options.common.iters.value_or(static_cast<long>(std::clamp<uint64_t>(kVolume / bytes, 5, 2000)));
}

/// Adds the row of what event_timed() measured: `amount` moved in each repetition of `iters`.
inline void add_throughput(Context& context, Row row, long iters, const std::vector<double>& seconds, double amount,
                           double scale) {
  row.iters = iters * context.options.common.repetitions;
  set_throughput(row, seconds, amount, scale);
  context.add(std::move(row));
}

/// Calls f(scope as a template argument).
template <class F>
void with_scope(Scope scope, F&& f) {
  switch (scope) {
    case Scope::thread:
      return f.template operator()<Scope::thread>();
    case Scope::warp:
      return f.template operator()<Scope::warp>();
    case Scope::block:
      return f.template operator()<Scope::block>();
  }
}

}  // namespace railshmem::perf::gpu
