// SPDX-License-Identifier: BSD-3-Clause
// peers: memory and time that 4096 peers cost a PE before any traffic. Like the bench `ring`, it reaches into the
// library (RAILSHMEM_PERF_RING).
#if defined(RAILSHMEM_PERF_RING) && defined(RAILSHMEM_PERF_PEERS)
#include "perftest/peers/peers_bench.h"

#include "perftest/harness/context.h"

namespace railshmem::perf {
namespace {

constexpr int kPeers = 4096;

void peers(Context& context) {
  const int npes = context.options.iters ? static_cast<int>(*context.options.iters) : kPeers;
  const perftest::PeersFigures figures = perftest::measure_peers(npes);
  const auto add = [&](const char* metric, const char* unit, double value) {
    context.add(metric, unit, figures.rails, value, value, value, npes);
  };
  add("open", "ms", figures.open_ms);
  add("open_memory", "KiB", figures.open_bytes / 1024);
  add("connect", "ms", figures.connect_ms);
  add("per_peer", "B", figures.peer_bytes);
  add("per_context", "B", figures.context_bytes);
  add("descriptor", "B", figures.descriptor_bytes);
}

const Register bench(
    {"peers", "what 4096 peers (or --iters) cost before any traffic; bytes = rails", Place::floor, {8, 8}, peers});

}  // namespace
}  // namespace railshmem::perf
#endif
