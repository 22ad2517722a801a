// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/local_descriptors.h"

#include <cerrno>

namespace railshmem::ofi {

LocalDescriptors::Parts::Parts(const RegistrationSite& site, LocalBuffers& shared_buffers, size_t max_operations)
    : shared(shared_buffers),
      monitor(shared.monitor()),
      own{{site, monitor}, {}},
      cache(own.registrar, shared.limits(), max_operations),
      in_flight(max_operations),
      seen(monitor ? monitor->now() : MemoryMonitor::Seen{}) {}

LocalDescriptors::Parts::~Parts() {
  shared.leave(own);
}

LocalDescriptors::LocalDescriptors(const RegistrationSite& site, LocalBuffers& shared, size_t max_operations,
                                   const std::string& rail_name)
    : parts_(std::make_unique<Parts>(site, shared, max_operations)) {
  shared.join(parts_->own, rail_name);
}

int LocalDescriptors::find_or_register(std::span<const MemoryRegion> segments, const std::byte* p, size_t nbytes,
                                       LocalUse use, const OpSlot* slot, void*& desc) noexcept {
  for (const MemoryRegion& segment : segments) {
    if (!segment.contains(p, nbytes)) continue;
    desc = segment.desc();
    return 0;
  }
  Parts& parts = *parts_;
  if (parts.in_flight.full()) return EAGAIN;
  Held held;
  if (parts.own.registered.hold(p, nbytes, use, desc)) {
    held.registered = p;
  } else {
    if (parts.monitor && !parts.monitor->quiet_since(parts.seen)) [[unlikely]]
      parts.monitor->collect(parts.seen, [&](const PageRange& gone) { parts.cache.invalidate(gone); });
    if (const int error = parts.cache.acquire(pages_of(p, nbytes), use, held.entry); error != 0) return error;
    desc = parts.cache.desc(held.entry);
  }
  parts.in_flight.insert(slot, held);
  return 0;
}

void LocalDescriptors::drop(const OpSlot* slot) noexcept {
  Held held;
  if (!parts_->in_flight.take(slot, held)) return;
  if (held.registered) {
    parts_->own.registered.release(held.registered);
  } else {
    parts_->cache.release(held.entry);
  }
}

}  // namespace railshmem::ofi
