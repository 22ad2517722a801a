// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/fabric.h"

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "transports/ofi/card.h"
#include "transports/ofi/hints.h"

namespace railshmem::ofi {
namespace {

enum class Use : uint8_t { host, proxy };

RailSetup rail_setup(const NetworkConfig& config, Use use, LocalBuffers& local_buffers) {
  const bool proxy = use == Use::proxy;  // only the proxy thread sleeps; only proxies answer to host endpoints
  return {static_cast<size_t>(config.npes),
          proxy ? 2u : 1u,
          std::max<size_t>(config.env->ofi_slots, 1),
          proxy,
          static_cast<uint64_t>(config.env->timeout_s * 1e9),
          &local_buffers};
}

/// Addresses of one rail's peers, back to back as fi_av_insert takes them (strings with their final zero).
class AddressList {
 public:
  AddressList(std::vector<std::byte> mine, bool strings) : mine_(std::move(mine)), strings_(strings) {}

  void add(int pe, std::span<const std::byte> address) {
    if (!strings_ && address.size() != mine_.size())
      throw Error(
          text("PE %d has a network address of %zu bytes where this PE's has %zu: choose interfaces of one "
               "kind with SHMEM_OFI_NIC",
               pe, address.size(), mine_.size()));
    bytes_.insert(bytes_.end(), address.begin(), address.end());
  }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> mine_;
  bool strings_;
  std::vector<std::byte> bytes_;
};

AddressList list_for(const Rail& rail) {
  return {rail.address(), rail.info().addr_format == FI_ADDR_STR};
}

}  // namespace

Fabric::Fabric(const NetworkConfig& config) : Fabric(config, find_nics(*config.env, config.several_hosts)) {}

Fabric::Fabric(const NetworkConfig& config, std::vector<Nic> nics)
    : pe_(config.pe),
      npes_(static_cast<size_t>(config.npes)),
      local_buffers_(std::make_unique<LocalBuffers>(LocalBuffersConfig::from(*config.env))),
      host_(nics.front(), rail_setup(config, Use::host, *local_buffers_)) {
  for (const Nic& nic : nics) proxies_.emplace_back(nic, rail_setup(config, Use::proxy, *local_buffers_));
}

std::vector<std::byte> Fabric::attach(std::span<const Segment> segments) {
  Card card;
  card.provider = host_.info().fabric_attr->prov_name;
  card.host_address = host_.address();
  host_.add_local(segments);
  for (Rail& rail : proxies_) {
    Card::Rail& entry = card.rails.emplace_back();
    entry.address = rail.address();
    const std::vector<RemoteRegion> regions = rail.expose(segments);
    std::copy(regions.begin(), regions.end(), entry.regions.begin());
  }
  return encode(card);
}

void Fabric::connect(std::span<const std::vector<std::byte>> cards) {
  const std::string mine = host_.info().fabric_attr->prov_name;
  AddressList for_host = list_for(host_);
  std::vector<AddressList> for_proxies;
  for (const Rail& rail : proxies_) for_proxies.push_back(list_for(rail));
  regions_.assign(proxies_.size(), {});
  for (auto& table : regions_) table.reserve(npes_ * kSegments);

  for (size_t i = 0; i < cards.size(); ++i) {
    const int pe = static_cast<int>(i);
    const Card card = decode(cards[i], pe);
    if (card.provider != mine)
      throw Error(
          text("PE %d uses the libfabric provider '%s', PE %d uses '%s': set SHMEM_OFI_PROVIDER alike on all "
               "hosts",
               pe, card.provider.c_str(), pe_, mine.c_str()));
    for_host.add(pe, card.rails.front().address);
    for (size_t r = 0; r < proxies_.size(); ++r) {
      // A peer with fewer NICs serves several of our rails by one of its own.
      const Card::Rail& peer = card.rails[r % card.rails.size()];
      for_proxies[r].add(pe, peer.address);
      for_proxies[r].add(pe, card.host_address);
      regions_[r].insert(regions_[r].end(), peer.regions.begin(), peer.regions.end());
    }
  }
  host_.connect(for_host.bytes(), regions_.front());  // the first rail's proxy is what host calls target
  for (size_t r = 0; r < proxies_.size(); ++r) proxies_[r].connect(for_proxies[r].bytes(), regions_[r]);
}

std::string Fabric::describe() const {
  std::string lines;
  for (const Rail& rail : proxies_) {
    const fi_info& info = rail.info();
    const RailTraits& traits = rail.traits();
    const uint32_t version = info.fabric_attr->prov_version;
    lines += text("ofi rail %s: provider version %u.%u, libfabric %u.%u, fabric %s\n", rail.name().c_str(),
                  FI_MAJOR(version), FI_MINOR(version), FI_MAJOR(fi_version()), FI_MINOR(fi_version()),
                  info.fabric_attr->name);
    lines += text("  mr_mode %s, progress %s, order %s, wait object %s\n", mr_mode_text(info).c_str(),
                  progress_text(info).c_str(), order_text(info).c_str(), rail.wait_fd() >= 0 ? "fd" : "none");
    lines += text("  inject %zu B, message %zu B, largest write %zu B\n", traits.inject, traits.max_message,
                  traits.max_write);
    lines += traits.message_after_write
                 ? "  messages stay behind writes: the endpoint keeps send-after-write order for data of any size\n"
                 : "  messages may pass writes: the endpoint does not promise send-after-write order for the data\n";
  }
  return lines + local_buffers_->describe();
}

}  // namespace railshmem::ofi
