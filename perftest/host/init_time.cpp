// SPDX-License-Identifier: BSD-3-Clause
// init_time: how long shmem_init took. Once per process, so the distribution is over the PEs.
#include <algorithm>

#include "perftest/harness/context.h"

namespace railshmem::perf {
namespace {

void init_time(Context& context) {
  Distribution mine;
  mine.value = context.init_seconds;
  std::vector<double> seconds;
  for (const Distribution& d : context.gather(mine)) seconds.push_back(d.value);
  if (seconds.empty()) return;
  const double slowest = *std::max_element(seconds.begin(), seconds.end());
  context.add("init", "ms", 0, slowest * 1e3, median(seconds) * 1e3, percentile(seconds, 0.99) * 1e3, 1);
}

const Register bench(
    {"init_time", "shmem_init, the slowest PE (p50, p99: over the PEs): ms", Place::all, {0, 0}, init_time});

}  // namespace
}  // namespace railshmem::perf
