// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/fabric.h"

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/base/limit.h"
#include "src/base/log.h"
#include "transports/ofi/descriptor.h"
#include "transports/ofi/hints.h"
#include "transports/ofi/pairing.h"
#include "transports/ofi/quirks.h"

namespace railshmem::ofi {
namespace {

RailSetup rail_setup(const NetworkConfig& config, Port port, LocalBuffers& local_buffers) {
  // Only its thread sleeps until something arrives, and only it answers: to all endpoints of peers.
  const bool proxy = port == Port::proxy;
  return {static_cast<size_t>(config.npes),
          proxy ? ports_with(config.env->proxy_threads) : 1,
          std::max<size_t>(config.env->ofi_slots, 1),
          proxy,
          limit_ns(config.env->timeout_s),
          &local_buffers};
}

/// A provider is not told how long an address is. It reads up to the final zero of a text, or as many bytes as this
/// PE's own address has.
void check_address(const Nic& nic, size_t own_length, int pe, std::span<const std::byte> address) {
  if (nic.info->addr_format == FI_ADDR_STR) {
    if (address.empty() || address.back() != std::byte{0})
      throw Error(text("PE %d has a network address without a final zero; its descriptor is damaged", pe));
  } else if (address.size() != own_length) {
    throw Error(
        text("PE %d has a network address of %zu bytes where this PE's has %zu: choose interfaces of one kind with "
             "SHMEM_OFI_NICS",
             pe, address.size(), own_length));
  }
}

}  // namespace

Fabric::Fabric(const NetworkConfig& config)
    : config_(config),
      pe_(config.pe),
      npes_(static_cast<size_t>(config.npes)),
      nics_(find_nics(config)),
      local_buffers_(std::make_unique<LocalBuffers>(LocalBuffersConfig::from(*config.env))),
      extents_(
          std::make_unique<DeviceExtents>(nics_.front().gpu_way, ports_with(config.env->proxy_threads), nics_.size())),
      ports_(ports_with(config.env->proxy_threads)) {
  if (const std::string harm = exposure_of(*nics_.front().info); pe_ == 0 && !harm.empty())
    log_warn(
        "provider %s: any process that reaches its ports can %s; use it for tests only, or set "
        "SHMEM_OFI_PROVIDER=tcp (docs/security.md)",
        nics_.front().provider(), harm.c_str());
  for (const Nic& nic : nics_) {
    links_.push_back(LinkState::of(nic.facts));
    for (size_t port = 0; port < ports_.size(); ++port)
      ports_[port].rails.emplace_back(nic, rail_setup(config_, static_cast<Port>(port), *local_buffers_));
  }
}

std::vector<std::byte> Fabric::attach(std::span<const Segment> segments) {
  segments_.assign(segments.begin(), segments.end());
  NetworkDescriptor descriptor;
  descriptor.provider = nics_.front().provider();
  for (size_t r = 0; r < nics_.size(); ++r) {
    NetworkDescriptor::Rail& entry = descriptor.rails.emplace_back();
    entry.network = network_of(nics_[r]);
    for (size_t port = 0; port < ports_.size(); ++port) {
      Rail& rail = ports_[port].rails[r];
      entry.addresses.push_back(rail.address());
      if (static_cast<Port>(port) != Port::proxy) {
        rail.add_local(segments);
        continue;
      }
      const std::vector<RemoteRegion> exposed = rail.expose(segments);
      std::copy(exposed.begin(), exposed.end(), entry.regions.begin());
    }
  }
  return encode(descriptor);
}

void Fabric::connect(std::span<const std::vector<std::byte>> descriptors) {
  std::vector<std::string> mine;
  for (const Nic& nic : nics_) mine.push_back(network_of(nic));
  for (size_t pe = 0; pe < descriptors.size(); ++pe) {
    NetworkDescriptor& descriptor = descriptors_.emplace_back(decode(descriptors[pe], static_cast<int>(pe)));
    if (descriptor.provider != nics_.front().provider())
      throw Error(
          text("PE %zu uses the libfabric provider '%s', PE %d uses '%s': set SHMEM_OFI_PROVIDER alike on all "
               "hosts",
               pe, descriptor.provider.c_str(), pe_, nics_.front().provider()));
    for (const NetworkDescriptor::Rail& rail : descriptor.rails)
      if (rail.addresses.size() != ports_.size())
        throw Error(text("PE %zu has %zu proxy threads where this PE has %zu: set SHMEM_PROXY_THREADS alike", pe,
                         rail.addresses.size() - 1, ports_.size() - 1));
    std::vector<std::string> theirs;
    for (const NetworkDescriptor::Rail& rail : descriptor.rails) theirs.push_back(rail.network);
    const std::vector<size_t> partners = pair_rails(mine, theirs, pe_, static_cast<int>(pe));
    for (size_t r = 0; r < mine.size(); ++r) {
      if (partners[r] == kNoRail)
        throw Error(
            text("rail %s is in the network '%s', where PE %zu has no rail: name interfaces with SHMEM_OFI_NICS "
                 "that reach all PEs",
                 nics_[r].name().c_str(), mine[r].c_str(), pe));
      partners_.push_back(static_cast<uint8_t>(partners[r]));
    }
  }
  for (size_t i = 0; i < ports_.size(); ++i) {
    const auto port = static_cast<Port>(i);
    regions(port).resize(nics_.size());
    for (size_t r = 0; r < nics_.size(); ++r) {
      for (size_t pe = 0; pe < npes_; ++pe) {
        const auto& theirs = descriptors_[pe].rails[partner(r, pe)].regions;
        regions(port)[r].insert(regions(port)[r].end(), theirs.begin(), theirs.end());
      }
      rails(port)[r].connect(addresses_for(port, r), regions(port)[r], &extents_->peers(port, r));
    }
  }
  if (nics_.size() == 1) descriptors_ = {};  // nothing will be opened anew
}

std::vector<std::byte> Fabric::expose(const DeviceExtent& extent) {
  std::vector<std::span<Rail>> rails_by_port;
  for (PortRails& port : ports_) rails_by_port.emplace_back(port.rails);
  // Its addresses are at the start of the segment's, wherever the first extent is.
  const std::span<const std::byte> heap(extent.base - extent.at, config_.device_heap_nbytes);
  try {
    return encode(extents_->add(extent, heap, rails_by_port));
  } catch (...) {
    extents_->add_none();
    throw;
  }
}

void Fabric::learn(std::span<const std::vector<std::byte>> descriptors) {
  std::vector<ExtentDescriptor> theirs;
  for (size_t pe = 0; pe < descriptors.size(); ++pe)
    theirs.push_back(decode_extent(descriptors[pe], static_cast<int>(pe)));
  for (size_t r = 0; r < nics_.size(); ++r) {
    std::vector<RemoteRegion> regions;
    for (size_t pe = 0; pe < npes_; ++pe)
      regions.push_back(theirs[pe].empty() ? RemoteRegion{} : theirs[pe].at(partner(r, pe)));
    extents_->learn(r, regions);
  }
}

/// What rail `r` of `port` inserts in its address table, back to back (strings with their final zero).
std::vector<std::byte> Fabric::addresses_for(Port port, size_t r) {
  const Rail& rail = rails(port)[r];
  std::vector<std::byte> all;
  const auto add = [&](size_t pe, const std::vector<std::byte>& address) {
    check_address(nics_[r], rail.address().size(), static_cast<int>(pe), address);
    all.insert(all.end(), address.begin(), address.end());
  };
  for (size_t pe = 0; pe < npes_; ++pe) {
    const NetworkDescriptor::Rail& theirs = descriptors_[pe].rails[partner(r, pe)];
    const size_t reached = port == Port::proxy ? theirs.addresses.size() : 1;
    for (size_t i = 0; i < reached; ++i) add(pe, theirs.addresses[i]);
  }
  return all;
}

std::vector<std::byte> Fabric::reopen(Port port, size_t r) {
  Rail& rail = rails(port)[r];
  rail.close();
  Rail fresh(nics_[r], rail_setup(config_, port, *local_buffers_));
  EndpointDescriptor descriptor{port, static_cast<uint32_t>(r), fresh.address(), {}, extents_->add_all(fresh)};
  if (port == Port::proxy) {
    const std::vector<RemoteRegion> exposed = fresh.expose(segments_);
    std::copy(exposed.begin(), exposed.end(), descriptor.regions.begin());
  } else {
    fresh.add_local(segments_);
  }
  // This PE's way to itself is open at once: with all rails closed no descriptor would come over another one.
  if (port == Port::proxy) enter(descriptor, static_cast<size_t>(pe_), Port::proxy, r);
  rail = std::move(fresh);
  rail.connect(addresses_for(port, r), regions(port)[r], &extents_->peers(port, r));
  return encode(descriptor);
}

uint32_t Fabric::learn(Port mine, int pe, std::span<const std::byte> bytes) {
  const EndpointDescriptor news = decode_endpoint(bytes, pe);
  const auto index = static_cast<size_t>(pe);
  if (news.rail >= descriptors_[index].rails.size()) throw Error(text("PE %d has no rail %u", pe, news.rail));
  const auto& known = descriptors_[index].rails[news.rail].addresses;
  if (static_cast<size_t>(news.port) >= known.size())
    throw Error(text("PE %d has no port %u", pe, static_cast<unsigned>(news.port)));
  check_address(nics_.front(), known[static_cast<size_t>(news.port)].size(), pe, news.address);
  if (news.port != Port::proxy && mine != Port::proxy) return 0;               // others talk to proxies only
  if (news.port == Port::proxy && mine == Port::proxy && pe == pe_) return 0;  // reopen() did it
  uint32_t concerned = 0;
  for (size_t r = 0; r < nics_.size(); ++r) {
    if (partner(r, index) != news.rail) continue;
    if (news.port == Port::proxy) concerned |= uint32_t{1} << r;
    enter(news, index, mine, r);
    if (rails(mine)[r].is_open()) rails(mine)[r].readdress(pe, news.port, news.address);  // else when it is opened
  }
  return concerned;
}

/// What rail `r` of `mine` reads when it is opened, and where it reaches the memory of PE `index`.
void Fabric::enter(const EndpointDescriptor& news, size_t index, Port mine, size_t r) {
  NetworkDescriptor::Rail& entry = descriptors_[index].rails[news.rail];
  entry.addresses[static_cast<size_t>(news.port)] = news.address;
  if (news.port != Port::proxy) return;
  entry.regions = news.regions;
  std::copy(news.regions.begin(), news.regions.end(),
            regions(mine)[r].begin() + static_cast<std::ptrdiff_t>(index * kSegments));
  extents_->replace(mine, r, index, news.extents);
}

/// Those that talk to this rail of the peer.
uint32_t Fabric::rails_to(int pe, size_t rail) {
  uint32_t mask = 0;
  for (size_t r = 0; r < nics_.size(); ++r)
    if (partner(r, static_cast<size_t>(pe)) == rail) mask |= uint32_t{1} << r;
  return mask;
}

uint32_t Fabric::without_link() const noexcept {
  uint32_t mask = 0;
  for (size_t r = 0; r < links_.size(); ++r)
    if (!links_[r].is_up()) mask |= uint32_t{1} << r;
  return mask;
}

std::string Fabric::describe() const {
  std::string lines = explain_choice(config_);
  const std::vector<Rail>& proxies = ports_[static_cast<size_t>(Port::proxy)].rails;
  for (size_t r = 0; r < proxies.size(); ++r) {
    const Rail& rail = proxies[r];
    const fi_info& info = rail.info();
    const RailTraits& traits = rail.traits();
    const uint32_t version = info.fabric_attr->prov_version;
    lines += text("ofi rail %s: provider version %u.%u, libfabric %u.%u, fabric %s\n", rail.name().c_str(),
                  FI_MAJOR(version), FI_MINOR(version), FI_MAJOR(fi_version()), FI_MINOR(fi_version()),
                  info.fabric_attr->name);
    lines += text("  mr_mode %s, progress %s, order %s, wait object %s\n", mr_mode_text(info).c_str(),
                  progress_text(info).c_str(), order_text(info).c_str(), rail.wait_fd() >= 0 ? "fd" : "none");
    if (config_.device_heap())
      lines += text("  GPU memory: %s%s%s\n", name_of(nics_[r].gpu_way), nics_[r].why_gpu_way.empty() ? "" : "; ",
                    nics_[r].why_gpu_way.c_str());
    if (links_[r].is_told())
      lines += text("  link: %s, and watched\n", links_[r].is_up() ? "up" : "down");
    else
      lines += "  link: the system does not tell; a rail that dies is found by its silence\n";
    lines += text("  inject %zu B, message %zu B, largest write %zu B\n", traits.inject, traits.max_message,
                  traits.max_write);
    lines += traits.message_after_write
                 ? "  messages stay behind writes: the endpoint keeps send-after-write order for data of any size\n"
                 : "  messages may pass writes: the endpoint does not promise send-after-write order for the data\n";
  }
  return lines + local_buffers_->describe();
}

}  // namespace railshmem::ofi
