// SPDX-License-Identifier: BSD-3-Clause
// put_on_cpu, put_signal_on_cpu, fcollect_on_cpu, reduce_on_cpu: what a call of the host in the order of a stream costs
// the CPU. No call waits, and the stream is empty before each repetition. python/bench/stream_calls.py has the pair of
// each.
#include <algorithm>
#include <chrono>

#include "perftest/device/api.cuh"
#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu::on_cpu {
namespace {

constexpr int kCalls = 50;  // few enough for any queue of a stream

/// Adds the row of the time that `call(i)` takes on the CPU of PE 0; i counts from 1 and never back.
template <class Call>
void add_cpu_time(Context& context, uint64_t bytes, Call&& call) {
  std::vector<double> seconds;
  uint64_t calls = 0;
  context.barrier();
  for (int r = -1; context.acts() && r < context.options.common.repetitions; ++r) {  // the first one warms up
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call(++calls);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    context.finish();
    if (r >= 0) seconds.push_back(took);
  }
  context.barrier();
  if (!context.first()) seconds.clear();
  Row row = context.row("latency", "us", bytes, 0, 0);
  row.iters = kCalls * context.options.common.repetitions;
  if (!seconds.empty()) set_time(row, seconds, static_cast<double>(kCalls));
  context.add(std::move(row));
}

void run_put(Context& context) {
  const Symmetric from(context.largest()), to(context.largest());
  for (const uint64_t bytes : context.sizes)
    add_cpu_time(context, bytes, [&](uint64_t) {
      api::on_stream::put_nbi(to.as<>(), from.as<>(), bytes, context.peer(), context.stream());
    });
}

void run_put_signal(Context& context) {
  const Symmetric from(context.largest()), to(context.largest()), signal(sizeof(uint64_t));
  for (const uint64_t bytes : context.sizes)
    add_cpu_time(context, bytes, [&](uint64_t i) {
      api::on_stream::put_signal_nbi(to.as<>(), from.as<>(), bytes, signal.as<uint64_t>(), i, context.peer(),
                                     context.stream());
    });
}

void need(const Context& context, int status) {
  if (status != 0) throw std::runtime_error(std::string(context.bench->name) + " was refused");
}

void run_fcollect(Context& context) {
  const auto npes = static_cast<uint64_t>(context.npes);
  const Symmetric from(context.largest() + 8), to(context.largest() + 8 * npes);
  for (const uint64_t size : context.sizes) {
    const uint64_t words = std::max<uint64_t>(1, size / npes / 8);
    add_cpu_time(context, words * 8 * npes, [&](uint64_t) {
      need(context, api::on_stream::fcollect(to.as<uint64_t>(), from.as<const uint64_t>(), words, context.stream()));
    });
  }
}

void run_reduce(Context& context) {
  const Symmetric from(context.largest() + sizeof(float)), to(context.largest() + sizeof(float));
  for (const uint64_t size : context.sizes) {
    const uint64_t n = std::max<uint64_t>(1, size / sizeof(float));
    add_cpu_time(context, n * sizeof(float), [&](uint64_t) {
      need(context, api::on_stream::sum(to.as<float>(), from.as<const float>(), n, context.stream()));
    });
  }
}

constexpr Range kSizes{8, 8 << 10};
const std::vector<Scope> kOnce{Scope::thread};
const Register benches[] = {
    Register(
        {"put_on_cpu", "put on a stream: what the call costs the CPU", Part::one_sided, kSizes, kOnce, false, run_put}),
    Register({"put_signal_on_cpu", "put_signal on a stream: what the call costs the CPU", Part::one_sided, kSizes,
              kOnce, false, run_put_signal}),
    Register({"fcollect_on_cpu", "fcollect on a stream: what the call costs the CPU; bytes: N blocks together",
              Part::all, kSizes, kOnce, false, run_fcollect}),
    Register({"reduce_on_cpu", "sum of floats on a stream: what the call costs the CPU", Part::all, kSizes, kOnce,
              false, run_reduce}),
};

}  // namespace
}  // namespace railshmem::perf::gpu::on_cpu
