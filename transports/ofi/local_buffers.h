// SPDX-License-Identifier: BSD-3-Clause
// The state of local buffers that the rails of one PE share: limits, the watch over memory, buffers registered ahead.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "src/base/env.h"
#include "transports/ofi/domain_registrar.h"
#include "transports/ofi/registered_buffers.h"

namespace railshmem::ofi {

/// Where a rail keeps the registrations of its domain.
struct LocalRegistrations {
  DomainRegistrar registrar;
  RegisteredBuffers registered;
};

struct LocalBuffersConfig {
  bool always = false;  ///< register also where the provider does not ask for it
  CacheLimits limits;   ///< of each rail; a count of 0 keeps nothing
  static LocalBuffersConfig from(const Env& env) {
    return {env.ofi_register_local, {env.ofi_mr_cache_bytes, env.ofi_mr_cache_count}};
  }
};

/// Outlives the rails. Any thread may call everything, but add() and remove() only while nobody uses a rail: in
/// libfabric 1.17 fi_mr_reg races with progress of its domain under FI_THREAD_COMPLETION.
class LocalBuffers {
 public:
  explicit LocalBuffers(const LocalBuffersConfig& config) noexcept : config_(config) {}
  LocalBuffers(const LocalBuffers&) = delete;  // rails hold its address

  bool always() const noexcept { return config_.always; }
  const CacheLimits& limits() const noexcept { return config_.limits; }
  /// The watch over memory, made at the first call; null where no registrations are kept or the system cannot watch.
  MemoryMonitor* monitor();

  /// Adds a rail that registers local buffers, and registers there the buffers added so far. Throws Error.
  void join(LocalRegistrations& rail, const std::string& name);
  void leave(LocalRegistrations& rail) noexcept;

  /// Registers a buffer at all rails, or at no rail and throws Error. Buffers must not overlap.
  void add(std::span<const std::byte> bytes);
  /// Removes a buffer; does nothing for one that was not added. Throws Error while operations in flight use the buffer.
  void remove(const std::byte* base);

  /// A line for SHMEM_INFO.
  std::string describe();

 private:
  struct Rail {
    LocalRegistrations* registrations;
    std::string name;
  };
  static void add_to(const Rail& rail, std::span<const std::byte> bytes);

  const LocalBuffersConfig config_;
  std::mutex mutex_;  ///< guards everything below
  bool tried_ = false;
  std::string why_not_;
  std::unique_ptr<MemoryMonitor> monitor_;
  std::vector<Rail> rails_;
  std::vector<std::span<const std::byte>> buffers_;
};

}  // namespace railshmem::ofi
