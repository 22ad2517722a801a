// SPDX-License-Identifier: BSD-3-Clause
// Any fabric whose rails have a bad day (see flaky_rail.h).
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/cpu.h"
#include "src/plugin/network.h"
#include "src/proxy/failover/engine_keeper.h"
#include "tests/support/flaky_rail.h"

namespace railshmem::test {

template <Fabric F>
class Flaky {
 public:
  using RailType = FlakyRail<typename F::RailType>;

  /// Further arguments go to the fabric.
  template <class... Args>
  Flaky(const NetworkConfig& config, const FlakyOptions& options, Args&&... args)
      : day_(std::make_unique<BadDay>(options, config.pe, config.npes)),
        fabric_(config, std::forward<Args>(args)...),
        options_(options),
        rails_(ports_with(config.env->proxy_threads)),
        seed_(options.seed * 10000 + static_cast<uint64_t>(config.pe)) {}

  std::vector<std::byte> attach(std::span<const Segment> segments) {
    const uint64_t now = now_ns();
    std::vector<std::byte> descriptor(sizeof now);
    std::memcpy(descriptor.data(), &now, sizeof now);
    const std::vector<std::byte> inner = fabric_.attach(segments);
    descriptor.insert(descriptor.end(), inner.begin(), inner.end());
    return descriptor;
  }
  void connect(std::span<const std::vector<std::byte>> descriptors) {
    uint64_t epoch = 0;
    std::vector<std::vector<std::byte>> inner;
    for (const std::vector<std::byte>& descriptor : descriptors) {
      uint64_t theirs = 0;
      std::memcpy(&theirs, descriptor.data(), sizeof theirs);
      epoch = std::max(epoch, theirs);
      inner.emplace_back(descriptor.begin() + sizeof theirs, descriptor.end());
    }
    fabric_.connect(inner);
    const size_t rails = fabric_.rails(Port::proxy).size();
    day_->outages.begin(epoch, rails);
    if (rails == 1) options_.fail_one_in = 0;
    FlakyOptions proxy_options = options_;
    proxy_options.fail_post = 0;
    for (size_t i = 0; i < rails_.size(); ++i) {
      const auto port = static_cast<Port>(i);
      const FlakyOptions& options = port == Port::proxy ? proxy_options : options_;
      const uint64_t seed = seed_ + (port == Port::host ? 0 : 5000 * (i + 1));
      for (size_t r = 0; r < rails; ++r)
        rails_[i].emplace_back(fabric_.rails(port)[r], options, seed + 100 * r, r, *day_);
    }
  }
  std::span<RailType> rails(Port port) noexcept { return rails_[static_cast<size_t>(port)]; }
  std::string describe() const { return "flaky " + fabric_.describe(); }
  const FlakyCounts& counts() const noexcept { return day_->counts; }

  void register_buffer(std::span<const std::byte> bytes) requires requires(F f) { f.register_buffer(bytes); }
  { fabric_.register_buffer(bytes); }
  void unregister_buffer(const std::byte* base) requires requires(F f) { f.unregister_buffer(base); }
  { fabric_.unregister_buffer(base); }

  bool takes_extents() const noexcept requires requires(const F f) { f.takes_extents(); }
  { return fabric_.takes_extents(); }
  std::vector<std::byte> expose(const DeviceExtent& extent) requires requires(F f) { f.expose(extent); }
  { return fabric_.expose(extent); }
  void learn(std::span<const std::vector<std::byte>> descriptors) requires requires(F f) { f.learn(descriptors); }
  { fabric_.learn(descriptors); }

  // ---- see ReopensRails --------------------------------------------------------------------------------------------
  std::vector<std::byte> reopen(Port port, size_t r) requires ReopensRails<F> {
    rails(port)[r].forget();
    return fabric_.reopen(port, r);
  }
  uint32_t learn(Port mine, int pe, std::span<const std::byte> descriptor) requires ReopensRails<F> {
    return fabric_.learn(mine, pe, descriptor);
  }
  void limit_silence(Port port, size_t r, std::span<const int> pes, unsigned timeout_ms) requires ReopensRails<F> {
    fabric_.limit_silence(port, r, pes, timeout_ms);
  }
  void cut(Port port, size_t r, std::span<const int> pes) requires ReopensRails<F> { fabric_.cut(port, r, pes); }
  uint32_t rails_to(int pe, size_t r) requires ReopensRails<F> { return fabric_.rails_to(pe, r); }

 private:
  std::unique_ptr<BadDay> day_;
  F fabric_;
  FlakyOptions options_;
  std::vector<std::vector<RailType>> rails_;  ///< by port
  const uint64_t seed_;
};

}  // namespace railshmem::test
