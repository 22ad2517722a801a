// SPDX-License-Identifier: BSD-3-Clause
// Engines over the cables of one test.
#pragma once

#include "tests/support/cable_fabric.h"
#include "tests/support/engine_job.h"

namespace railshmem::test {

/// What engines of kCabled are made over; a setup has no other way to get it. Set before the job is made.
struct CabledWith {
  Cables* cables = nullptr;
  CableOptions options;
};
inline CabledWith g_cabled_with;

inline constexpr Setup<CableFabric> kCabled{"Cabled", [](const NetworkConfig& config, const Tuning& tuning) {
                                              return std::make_unique<Engine<CableFabric>>(
                                                  TransportKind::loopback, config, tuning, config,
                                                  *g_cabled_with.cables, g_cabled_with.options);
                                            }};
inline const Setup<CableFabric>& cabled_with(Cables& cables, const CableOptions& options) {
  g_cabled_with = {&cables, options};
  return kCabled;
}

/// Failures are noticed within moments, not half a second.
inline Tuning hasty() {
  Tuning tuning;
  tuning.stripe_min = 8192;
  tuning.shortest_piece = 4096;
  tuning.longest_piece = 16384;
  tuning.rail_window = 32768;
  tuning.rail_timeout_ns = 40'000'000;
  tuning.quarantine_ns = 2'000'000;  // nothing is under way between cables
  return tuning;
}

}  // namespace railshmem::test
