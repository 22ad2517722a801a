// SPDX-License-Identifier: BSD-3-Clause
// engine: the proxy's cost per command, on rails that cost nothing. Like the bench `ring`, it reaches into the library
// (RAILSHMEM_PERF_RING).
#ifdef RAILSHMEM_PERF_RING
#include "perftest/engine/engine_bench.h"

#include "perftest/harness/context.h"

namespace railshmem::perf {
namespace {

using perftest::EngineBenchOptions;
using perftest::EngineWork;

struct Case {
  const char* metric;
  EngineBenchOptions options;
};
constexpr Case kCases[] = {
    {"put_inline_1_rail", {EngineWork::put_inline, 1, 8}},
    {"put_inline_4_rails", {EngineWork::put_inline, 4, 8}},
    {"put_1_rail", {EngineWork::put, 1, 4096}},
    {"put_4_rails", {EngineWork::put, 4, 4096}},
    {"fenced_1_rail", {EngineWork::fenced, 1, 4096}},
    {"fenced_4_rails", {EngineWork::fenced, 4, 4096}},
    {"served_amo", {EngineWork::served, 1, 8}},
};

/// Returns the rates.
std::vector<double> measure(Context& context, const char* metric, EngineBenchOptions options) {
  if (context.options.iters) options.commands = static_cast<uint64_t>(*context.options.iters);
  std::vector<double> rates, instructions;
  for (int r = 0; r < context.options.repetitions; ++r) {
    const perftest::EngineFigures figures = perftest::measure_engine(options);
    rates.push_back(figures.mops);
    if (figures.instructions) instructions.push_back(*figures.instructions);
  }
  const auto iters = static_cast<long>(options.commands);
  context.add(metric, "Mops/s", options.nbytes, median(rates), median(rates), percentile(rates, 0.01), iters);
  if (!instructions.empty())
    context.add(metric, "instr", options.nbytes, median(instructions), median(instructions),
                percentile(instructions, 0.99), iters);
  return rates;
}

void engine(Context& context) {
  for (const Case& each : kCases) measure(context, each.metric, each.options);
  // The gain by SHMEM_PROXY_THREADS: --threads proxy threads against one.
  const auto threads = static_cast<size_t>(context.options.threads);
  const double one = median(measure(context, "1_proxy_thread", {}));
  const double all = median(measure(context, "proxy_threads", {.threads = threads}));
  context.add("proxy_threads_to_1", "x", EngineBenchOptions{}.nbytes, all / one, all / one, all / one,
              static_cast<long>(threads));
}

const Register bench(
    {"engine", "the proxy from ring to watermark without a network: Mops/s", Place::floor, {8, 8}, engine});

}  // namespace
}  // namespace railshmem::perf
#endif
