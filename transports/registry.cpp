// SPDX-License-Identifier: BSD-3-Clause
// Which networks exist, and the one switch between a data-path call and the engine that serves it.

#include "src/base/error.h"
#include "src/plugin/network.h"
#include "src/proxy/engine.h"
#include "transports/loopback/fabric.h"
#include "transports/tuning_of.h"
#if RAILSHMEM_HAVE_OFI
#include "transports/ofi/fabric.h"
#include "transports/ofi/nic.h"
#endif

namespace railshmem {
namespace {

std::unique_ptr<Network> make_ofi([[maybe_unused]] const NetworkConfig& config) {
#if RAILSHMEM_HAVE_OFI
  return std::make_unique<Engine<ofi::Fabric>>(TransportKind::ofi, config, tuning_of(*config.env), config);
#else
  return nullptr;
#endif
}

// A network was made below, so its kind tells its type.
auto& loopback_host(Network& network) noexcept {
  return static_cast<Engine<loopback::Fabric>&>(network).host();
}
#if RAILSHMEM_HAVE_OFI
bool is_ofi(const Network& network) noexcept {
  return network.kind == TransportKind::ofi;
}
auto& ofi_host(Network& network) noexcept {
  return static_cast<Engine<ofi::Fabric>&>(network).host();
}
#endif

template <class Call>
auto with_host(Network& network, Call&& call) noexcept {
#if RAILSHMEM_HAVE_OFI
  if (is_ofi(network)) [[likely]]
    return call(ofi_host(network));
#endif
  return call(loopback_host(network));
}

}  // namespace

void net_issue(Network& network, Op&& op) noexcept {
#if RAILSHMEM_HAVE_OFI
  if (is_ofi(network)) [[likely]]
    return ofi_host(network).issue(op);
#endif
  loopback_host(network).issue(op);
}

std::string describe_rails([[maybe_unused]] const NetworkConfig& config) {
#if RAILSHMEM_HAVE_OFI
  return ofi::explain_choice(config);
#else
  return "this library was built without libfabric\n";
#endif
}

std::unique_ptr<Network> make_network(const NetworkConfig& config) {
  const auto& allowed = config.env->transport;
  if (allowed.empty()) return make_ofi(config);  // loopback only on request: it cannot leave the process
  for (const TransportKind kind : allowed) {
    if (kind == TransportKind::loopback)
      return std::make_unique<Engine<loopback::Fabric>>(kind, config, tuning_of(*config.env), config,
                                                        loopback::Options{.rails = config.env->ofi_rails_per_nic});
    if (kind == TransportKind::ofi) {
      if (auto network = make_ofi(config)) return network;
      throw Error(
          "SHMEM_TRANSPORT names ofi, but this library was built without libfabric; configure with "
          "-DRAILSHMEM_OFI=ON, or set SHMEM_TRANSPORT to p2p");
    }
  }
  return nullptr;
}

}  // namespace railshmem

#include "transports/net_calls.inc"
