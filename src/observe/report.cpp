// SPDX-License-Identifier: BSD-3-Clause
#include "src/observe/report.h"

#include "src/base/error.h"

namespace railshmem::observe {
namespace {

using ull = unsigned long long;

std::string row(int pe, Kind kind, Way way, const Sum& sum) {
  const double mean = static_cast<double>(sum.nbytes) / static_cast<double>(sum.calls);
  return text("%5d %-10s %-7s %10llu %14llu %9llu %11.1f %9llu %11.6f", pe, kKindNames[static_cast<size_t>(kind)],
              kWayNames[static_cast<size_t>(way)], static_cast<ull>(sum.calls), static_cast<ull>(sum.nbytes),
              static_cast<ull>(sum.min), mean, static_cast<ull>(sum.max), static_cast<double>(sum.ticks) * 1e-9);
}

}  // namespace

std::string stats_heading() {
  return text("%5s %-10s %-7s %10s %14s %9s %11s %9s %11s", "PE", "kind", "way", "calls", "bytes", "min", "mean", "max",
              "seconds");
}

std::vector<std::string> stats_rows(int pe, const Totals& totals) {
  std::vector<std::string> rows;
  for (size_t kind = 0; kind < kKinds; ++kind)
    for (size_t way = 0; way < kWays; ++way)
      if (totals.calls[kind][way].calls > 0)
        rows.push_back(row(pe, static_cast<Kind>(kind), static_cast<Way>(way), totals.calls[kind][way]));
  const auto sum = [&](Engine what) { return static_cast<ull>(totals.engine[static_cast<size_t>(what)]); };
  if (sum(Engine::posted) + sum(Engine::again) + sum(Engine::served) + sum(Engine::sleeps) > 0)
    rows.push_back(
        text("%5d network: %llu operations posted, %llu again; %llu requests of peers served (%llu bytes); "
             "proxy slept %llu times, %.6f s",
             pe, sum(Engine::posted), sum(Engine::again), sum(Engine::served), sum(Engine::served_bytes),
             sum(Engine::sleeps), static_cast<double>(sum(Engine::slept_ticks)) * 1e-9));
  if (const auto copies = sum(Engine::copies); copies > 0)
    rows.push_back(text("%5d staging: %llu copies (%llu bytes), seen to be over after %.1f us on average", pe, copies,
                        sum(Engine::copied_bytes),
                        static_cast<double>(sum(Engine::copying_ticks)) * 1e-3 / static_cast<double>(copies)));
  return rows;
}

}  // namespace railshmem::observe
