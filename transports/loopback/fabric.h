// SPDX-License-Identifier: BSD-3-Clause
// Loopback: the reference fabric. Its PEs are threads of one process; it needs neither NIC nor shared memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/plugin/network.h"
#include "src/plugin/rail.h"
#include "transports/loopback/rail.h"

namespace railshmem::loopback {

class Fabric {
 public:
  using RailType = LoopbackRail;

  explicit Fabric(const NetworkConfig& config, const Options& options = {});
  ~Fabric();
  Fabric(const Fabric&) = delete;  // rails point into it

  std::vector<std::byte> attach(std::span<const Segment> segments);
  /// Throws Error when a peer lives in another process.
  void connect(std::span<const std::vector<std::byte>> descriptors);
  std::span<RailType> rails(Port port) noexcept { return rails_[static_cast<size_t>(port)]; }
  std::string describe() const;

 private:
  const int pe_;
  const int npes_;
  const Options options_;
  std::shared_ptr<ExposedPe> mine_;
  uint64_t key_ = 0;                          ///< under which peers find mine_; 0: not attached
  ExposedPes pes_;                            ///< by PE
  std::vector<std::vector<RailType>> rails_;  ///< by port
};

static_assert(railshmem::Fabric<Fabric>);

}  // namespace railshmem::loopback
