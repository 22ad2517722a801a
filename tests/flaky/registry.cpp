// SPDX-License-Identifier: BSD-3-Clause
// In place of transports/registry.cpp in a library that only tests load: libfabric, whose rails have a bad day.
#include <cstdio>
#include <memory>

#include "src/plugin/network.h"
#include "src/proxy/engine.h"
#include "tests/flaky/options.h"
#include "tests/support/flaky_fabric.h"
#include "transports/ofi/fabric.h"
#include "transports/ofi/nic.h"
#include "transports/tuning_of.h"

namespace railshmem {
namespace {

/// Says at the end what it has done: run_flaky.py adds it up.
class Reporting final : public test::Flaky<ofi::Fabric> {
 public:
  Reporting(const NetworkConfig& config, const test::FlakyOptions& options)
      : Flaky(config, options), pe_(config.pe), seed_(options.seed) {}
  ~Reporting() {
    std::fprintf(stderr, "flaky: PE %d: seed %llu: %s\n", pe_, static_cast<unsigned long long>(seed_),
                 counts().row().c_str());
  }
  Reporting(const Reporting&) = delete;

 private:
  const int pe_;
  const uint64_t seed_;
};

template <class Call>
auto with_host(Network& network, Call&& call) noexcept {
  return call(static_cast<Engine<Reporting>&>(network).host());
}

}  // namespace

void net_issue(Network& network, Op&& op) noexcept {
  with_host(network, [&](auto& host) { host.issue(op); });
}

std::string describe_rails(const NetworkConfig& config) {
  return ofi::explain_choice(config);
}

std::unique_ptr<Network> make_network(const NetworkConfig& config) {
  return std::make_unique<Engine<Reporting>>(TransportKind::ofi, config, tuning_of(*config.env), config,
                                             test::flaky_options_from_environment());
}

}  // namespace railshmem

#include "transports/net_calls.inc"
