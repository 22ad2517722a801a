// SPDX-License-Identifier: BSD-3-Clause
// One PE's end of a libfabric rail without a fabric around it, for tests that open, connect and replace rails
// themselves.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "src/base/env.h"
#include "tests/support/rail_pair.h"
#include "transports/ofi/nic.h"
#include "transports/ofi/rail.h"

namespace railshmem::testing_support {

/// The first interface of a provider; throws Error where this machine lacks it.
inline ofi::Nic first_nic(const char* provider) {
  const Env env = Env::parse(
      [&](const char* name) -> const char* { return name == std::string("SHMEM_OFI_PROVIDER") ? provider : nullptr; });
  NetworkConfig config{};
  config.env = &env;
  config.npes = 2;
  return std::move(ofi::find_nics(config).front());
}

/// Name of a parametrised test: the letters and digits of the provider's name.
inline std::string provider_name(const char* provider) {
  std::string name;
  for (const char* c = provider; *c; ++c)
    if (std::isalnum(static_cast<unsigned char>(*c))) name += *c;
  return name;
}

/// Memory of a PE of two, what it knows of both PEs' regions, and a rail that may be replaced.
struct RailEnd {
  static constexpr size_t kBytes = size_t{1} << 20;
  static constexpr size_t kSlots = 256;

  RailEnd() : heap(kBytes), regions(2 * kSegments) {}

  void open(const ofi::Nic& nic) {
    rail.emplace(nic, ofi::RailSetup{2, 1, kSlots, false, uint64_t{20} * 1000000000, &local_buffers});
    const Segment segments[] = {{SegmentId::heap, heap.data(), kBytes}};
    mine = rail->expose(segments);
  }
  void learn(int pe, const RailEnd& other) {
    std::copy(other.mine.begin(), other.mine.end(), regions.begin() + static_cast<long>(pe) * long{kSegments});
  }
  /// Connects to the open rails of both PEs.
  void connect(const RailEnd& pe0, const RailEnd& pe1) {
    std::vector<std::byte> addresses;
    learn(0, pe0);
    learn(1, pe1);
    for (const RailEnd* end : {&pe0, &pe1}) {
      const auto address = end->rail->address();
      addresses.insert(addresses.end(), address.begin(), address.end());
    }
    rail->connect(addresses, regions);
  }
  /// Returns true when an event came.
  bool poll() {
    RailEvent events[8];
    const size_t n = rail->poll(events);
    for (const RailEvent& event : std::span(events, n)) {
      completed += event.kind == RailEvent::Kind::completed;
      failed += event.kind == RailEvent::Kind::failed;
      if (event.kind != RailEvent::Kind::message) continue;
      ++messages;
      if (event.nbytes == sizeof last_message) std::memcpy(&last_message, event.bytes, sizeof last_message);
      rail->release(event);
    }
    return n != 0;
  }

  Pages heap;
  std::vector<ofi::RemoteRegion> regions;
  std::vector<ofi::RemoteRegion> mine;
  ofi::LocalBuffers local_buffers{{}};
  std::optional<ofi::Rail> rail;  // closed before the memory
  size_t completed = 0;
  size_t failed = 0;
  size_t messages = 0;
  uint64_t last_message = 0;
};

}  // namespace railshmem::testing_support
