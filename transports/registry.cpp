// SPDX-License-Identifier: BSD-3-Clause
// Which networks exist, and the one switch between a data-path call and the engine that serves it.

#include "src/base/error.h"
#include "src/plugin/network.h"
#include "src/proxy/engine.h"
#include "transports/loopback/fabric.h"
#if RAILSHMEM_HAVE_OFI
#include "transports/ofi/fabric.h"
#include "transports/ofi/nic.h"
#endif

namespace railshmem {
namespace {

Tuning tuning_of(const Env& env) {
  Tuning tuning;
  if (env.ofi_stripe_min == 0)
    throw Error("SHMEM_OFI_STRIPE_MIN must be at least 1 byte; use a large one to cut nothing");
  tuning.stripe_min = env.ofi_stripe_min;
  tuning.stripe_rails = env.ofi_stripe_rails;
  if (env.rail_timeout_s <= 0) throw Error("SHMEM_RAIL_TIMEOUT must be more than 0 seconds");
  tuning.unreachable_ns = static_cast<uint64_t>(env.timeout_s * 1e9);
  tuning.rail_timeout_ns = static_cast<uint64_t>(env.rail_timeout_s * 1e9);
  tuning.staging_chunk = env.staging_chunk;
  tuning.staging_depth = env.staging_depth;
  tuning.keeps_order = !env.test_unordered;
  return tuning;
}

std::unique_ptr<Network> make_ofi([[maybe_unused]] const NetworkConfig& config) {
#if RAILSHMEM_HAVE_OFI
  return std::make_unique<Engine<ofi::Fabric>>(TransportKind::ofi, config, tuning_of(*config.env), config);
#else
  return nullptr;
#endif
}

/// `network` was made below, so its kind tells its type.
template <class Call>
auto with_host(Network& network, Call&& call) noexcept {
#if RAILSHMEM_HAVE_OFI
  if (network.kind == TransportKind::ofi) [[likely]]
    return call(static_cast<Engine<ofi::Fabric>&>(network).host());
#endif
  return call(static_cast<Engine<loopback::Fabric>&>(network).host());
}

}  // namespace

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

void net_put(Network& network, NetContext& scope, Remote to, const void* source, size_t nbytes) noexcept {
  with_host(network, [&](auto& host) { host.put(scope, to, source, nbytes); });
}
void net_put_nbi(Network& network, NetContext& scope, Remote to, const void* source, size_t nbytes) noexcept {
  with_host(network, [&](auto& host) { host.put_nbi(scope, to, source, nbytes); });
}
void net_get(Network& network, NetContext& scope, Remote from, void* dest, size_t nbytes) noexcept {
  with_host(network, [&](auto& host) { host.get(scope, from, dest, nbytes); });
}
void net_get_nbi(Network& network, NetContext& scope, Remote from, void* dest, size_t nbytes) noexcept {
  with_host(network, [&](auto& host) { host.get_nbi(scope, from, dest, nbytes); });
}
void net_put_signal(Network& network, NetContext& scope, Remote to, const void* source, size_t nbytes,
                    const NetSignal& signal) noexcept {
  with_host(network, [&](auto& host) { host.put_signal(scope, to, source, nbytes, signal); });
}
void net_put_signal_nbi(Network& network, NetContext& scope, Remote to, const void* source, size_t nbytes,
                        const NetSignal& signal) noexcept {
  with_host(network, [&](auto& host) { host.put_signal_nbi(scope, to, source, nbytes, signal); });
}
uint64_t net_amo(Network& network, NetContext& scope, Remote to, const NetAmo& amo) noexcept {
  return with_host(network, [&](auto& host) { return host.amo(scope, to, amo); });
}
void net_amo_nbi(Network& network, NetContext& scope, Remote to, const NetAmo& amo, void* fetch) noexcept {
  with_host(network, [&](auto& host) { host.amo_nbi(scope, to, amo, fetch); });
}
void net_flag(Network& network, Remote to, uint64_t value) noexcept {
  with_host(network, [&](auto& host) { host.flag(to, value); });
}
void net_session_start(Network& network, NetContext& scope, bool batch, const size_t* total_ops) noexcept {
  with_host(network, [&](auto& host) { host.session_start(scope, batch, total_ops); });
}
void net_session_stop(Network& network, NetContext& scope) noexcept {
  with_host(network, [&](auto& host) { host.session_stop(scope); });
}
void net_fence(Network& network, NetContext& scope) noexcept {
  with_host(network, [&](auto& host) { host.fence(scope); });
}
void net_quiet(Network& network, NetContext& scope) noexcept {
  with_host(network, [&](auto& host) { host.quiet(scope); });
}
void net_quiet(Network& network, NetContext& scope, int pe) noexcept {
  with_host(network, [&](auto& host) { host.quiet(scope, pe); });
}
bool net_progress(Network& network) noexcept {
  return with_host(network, [](auto& host) { return host.progress(); });
}

}  // namespace railshmem
