// SPDX-License-Identifier: BSD-3-Clause
// Registers local buffers in one domain: the Registrar behind RegistrationCache.
#pragma once

#include <cstdint>
#include <utility>

#include "transports/ofi/memory_monitor.h"
#include "transports/ofi/registration.h"
#include "transports/ofi/registration_cache.h"

namespace railshmem::ofi {

/// Owns one registration and the watch over its pages.
class LocalRegion {
 public:
  LocalRegion() = default;
  LocalRegion(Fid<fid_mr> region, bool writable) noexcept : region_(std::move(region)), writable_(writable) {}
  LocalRegion(LocalRegion&& other) noexcept { *this = std::move(other); }
  LocalRegion& operator=(LocalRegion&& other) noexcept;
  ~LocalRegion() { reset(); }

  void* desc() const noexcept { return fi_mr_desc(region_.get()); }
  bool writable() const noexcept { return writable_; }
  bool watched() const noexcept { return monitor_ != nullptr; }
  /// Takes over an interest in `pages`.
  void watched_by(MemoryMonitor& monitor, const PageRange& pages) noexcept {
    monitor_ = &monitor;
    pages_ = pages;
  }

 private:
  void reset() noexcept;

  Fid<fid_mr> region_;
  bool writable_ = false;
  MemoryMonitor* monitor_ = nullptr;
  PageRange pages_;
};

/// Used by one thread at a time, like the rail.
class DomainRegistrar {
 public:
  using Region = LocalRegion;

  /// `monitor` may be null: then no region is watched.
  DomainRegistrar(const RegistrationSite& site, MemoryMonitor* monitor) noexcept;

  /// A watched region, where its pages can be watched.
  int add(const PageRange& pages, LocalUse use, Region& region) noexcept;
  /// One that its owner promises to remove before the memory goes.
  int add_unwatched(const PageRange& pages, Region& region) noexcept;

 private:
  int open(const PageRange& pages, bool writable, Region& region) noexcept;

  const RegistrationSite site_;
  MemoryMonitor* const monitor_;
  const uint64_t keys_;  ///< number of keys to choose from
  uint64_t next_key_ = 0;
};

static_assert(Registrar<DomainRegistrar>);

}  // namespace railshmem::ofi
