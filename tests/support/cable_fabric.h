// SPDX-License-Identifier: BSD-3-Clause
// A fabric whose rails run over Cables, and may be opened anew.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/plugin/network.h"
#include "tests/support/cable_rail.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test {

class CableFabric {
 public:
  using RailType = CableRail<loopback::LoopbackRail>;

  CableFabric(const NetworkConfig& config, Cables& cables, const CableOptions& options)
      : inner_(config, loopback::Options{.depth = 1024, .has_wait_object = false, .rails = cables.rails()}),
        cables_(cables),
        pe_(config.pe),
        options_(options),
        known_(ports_with(config.env->proxy_threads)),
        rails_(known_.size()) {
    for (auto& known : known_)
      known.assign(cables.rails(), RailType::Known(RailType::kPorts * static_cast<size_t>(config.npes)));
  }

  std::vector<std::byte> attach(std::span<const Segment> segments) { return inner_.attach(segments); }
  void connect(std::span<const std::vector<std::byte>> descriptors) {
    inner_.connect(descriptors);
    for (size_t i = 0; i < rails_.size(); ++i) {
      const auto port = static_cast<Port>(i);
      for (size_t r = 0; r < cables_.rails(); ++r)
        rails_[i].emplace_back(inner_.rails(port)[r], cables_, Endpoint{pe_, port}, r, known(port, r), options_);
    }
  }
  std::span<RailType> rails(Port port) noexcept { return rails_[static_cast<size_t>(port)]; }
  std::string describe() const { return "cables"; }

  std::vector<std::byte> reopen(Port port, size_t r) {
    const Descriptor descriptor{port, static_cast<uint32_t>(r), rails(port)[r].reopen()};
    const auto bytes = std::as_bytes(std::span(&descriptor, 1));
    return {bytes.begin(), bytes.end()};
  }
  uint32_t learn(Port mine, int pe, std::span<const std::byte> bytes) {
    Descriptor descriptor{};
    std::memcpy(&descriptor, bytes.data(), sizeof descriptor);
    known(mine, descriptor.rail)[RailType::at({pe, descriptor.port})] = descriptor.generation;
    return descriptor.port == Port::proxy ? uint32_t{1} << descriptor.rail : 0;
  }
  uint32_t rails_to(int, size_t rail) const noexcept { return uint32_t{1} << rail; }
  /// The end at which a cable was pulled sees that; the other end does not.
  uint32_t without_link() const noexcept {
    uint32_t mask = 0;
    for (size_t r = 0; r < cables_.rails() && options_.tells_link; ++r)
      if (cables_.is_pulled(pe_, r)) mask |= uint32_t{1} << r;
    return mask;
  }
  /// These rails look for dead connections at every poll, so nothing is to be done here.
  void cut(Port, size_t, std::span<const int>) noexcept {}
  void limit_silence(Port, size_t, std::span<const int>, unsigned) noexcept {}

 private:
  struct Descriptor {
    Port port;
    uint32_t rail;
    uint32_t generation;
  };

  RailType::Known& known(Port mine, size_t r) { return known_[static_cast<size_t>(mine)][r]; }

  loopback::Fabric inner_;
  Cables& cables_;
  const int pe_;
  const CableOptions options_;
  std::vector<std::vector<RailType::Known>> known_;  ///< by port of this PE, by rail
  std::vector<std::vector<RailType>> rails_;         ///< by port
};

static_assert(railshmem::Fabric<CableFabric>);

}  // namespace railshmem::test
