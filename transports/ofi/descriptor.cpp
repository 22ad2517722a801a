// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/descriptor.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "src/base/error.h"
#include "src/proxy/rails/path_table.h"

namespace railshmem::ofi {
namespace {

constexpr uint32_t kDescriptorVersion = 6;  // raise with any change of the layout below, or of what the engine adds

class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put_bytes(std::as_bytes(std::span(&value, 1))); }
  void put_text(std::span<const std::byte> bytes) {
    put(static_cast<uint32_t>(bytes.size()));
    put_bytes(bytes);
  }
  void put_regions(std::span<const RemoteRegion> regions) {
    put(static_cast<uint32_t>(regions.size()));
    put_bytes(std::as_bytes(regions));
  }
  std::vector<std::byte> written;

 private:
  void put_bytes(std::span<const std::byte> more) { written.insert(written.end(), more.begin(), more.end()); }
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, int pe) : rest_(bytes), pe_(pe) {}
  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> get_text() { return take(get<uint32_t>()); }
  std::vector<RemoteRegion> get_regions() {
    const size_t count = get<uint32_t>();
    const auto bytes = take(count * sizeof(RemoteRegion));
    std::vector<RemoteRegion> regions(count);
    if (count > 0) std::memcpy(regions.data(), bytes.data(), bytes.size());
    return regions;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> take(size_t nbytes) {
    if (nbytes > rest_.size()) throw Error(text("the network descriptor of PE %d is cut short", pe_));
    const auto front = rest_.first(nbytes);
    rest_ = rest_.subspan(nbytes);
    return front;
  }
  std::span<const std::byte> rest_;
  int pe_;
};

}  // namespace

std::vector<std::byte> encode(const NetworkDescriptor& descriptor) {
  Writer out;
  out.put(kDescriptorVersion);
  out.put_text(std::as_bytes(std::span(descriptor.provider)));
  out.put(static_cast<uint32_t>(descriptor.rails.size()));
  for (const NetworkDescriptor::Rail& rail : descriptor.rails) {
    out.put_text(std::as_bytes(std::span(rail.network)));
    out.put(static_cast<uint32_t>(rail.addresses.size()));
    for (const auto& address : rail.addresses) out.put_text(address);
    out.put(rail.regions);
  }
  return std::move(out.written);
}

std::vector<std::byte> encode(const EndpointDescriptor& descriptor) {
  Writer out;
  out.put(descriptor.port);
  out.put(descriptor.rail);
  out.put_text(descriptor.address);
  out.put(descriptor.regions);
  out.put_regions(descriptor.extents);
  return std::move(out.written);
}

std::vector<std::byte> encode(const ExtentDescriptor& descriptor) {
  Writer out;
  out.put_regions(descriptor);
  return std::move(out.written);
}

ExtentDescriptor decode_extent(std::span<const std::byte> bytes, int pe) {
  if (bytes.empty()) return {};
  return Reader(bytes, pe).get_regions();
}

EndpointDescriptor decode_endpoint(std::span<const std::byte> bytes, int pe) {
  Reader in(bytes, pe);
  EndpointDescriptor descriptor;
  descriptor.port = in.get<Port>();
  descriptor.rail = in.get<uint32_t>();
  const auto address = in.get_text();
  descriptor.address.assign(address.begin(), address.end());
  descriptor.regions = in.get<std::array<RemoteRegion, kSegments>>();
  descriptor.extents = in.get_regions();
  if (static_cast<size_t>(descriptor.port) >= ports_with(kMaxProxyThreads) || !in.at_end())
    throw Error(text("the endpoint descriptor of PE %d is damaged", pe));
  return descriptor;
}

NetworkDescriptor decode(std::span<const std::byte> bytes, int pe) {
  Reader in(bytes, pe);
  if (const auto version = in.get<uint32_t>(); version != kDescriptorVersion)
    throw Error(
        text("PE %d speaks version %u of the libfabric transport, this PE version %u; install the same "
             "RailSHMEM everywhere",
             pe, version, kDescriptorVersion));
  NetworkDescriptor descriptor;
  const auto provider = in.get_text();
  descriptor.provider.assign(reinterpret_cast<const char*>(provider.data()), provider.size());
  const auto nrails = in.get<uint32_t>();
  if (nrails > kMostRails) throw Error(text("the network descriptor of PE %d is damaged: it has %u rails", pe, nrails));
  for (uint32_t i = 0; i < nrails; ++i) {
    NetworkDescriptor::Rail& rail = descriptor.rails.emplace_back();
    const auto network = in.get_text();
    rail.network.assign(reinterpret_cast<const char*>(network.data()), network.size());
    const auto nports = in.get<uint32_t>();
    if (nports < ports_with(1) || nports > ports_with(kMaxProxyThreads))
      throw Error(text("the network descriptor of PE %d is damaged: its rail %u has %u ports", pe, i, nports));
    for (uint32_t port = 0; port < nports; ++port) {
      const auto address = in.get_text();
      rail.addresses.emplace_back(address.begin(), address.end());
    }
    rail.regions = in.get<std::array<RemoteRegion, kSegments>>();
  }
  if (nrails == 0 || !in.at_end()) throw Error(text("the network descriptor of PE %d is damaged", pe));
  return descriptor;
}

}  // namespace railshmem::ofi
