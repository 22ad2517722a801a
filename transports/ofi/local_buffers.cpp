// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/local_buffers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem::ofi {

MemoryMonitor* LocalBuffers::monitor() {
  const std::lock_guard lock(mutex_);
  if (!tried_ && config_.limits.count > 0 && config_.limits.bytes > 0) {
    tried_ = true;
    monitor_ = MemoryMonitor::make(why_not_);
    if (!monitor_)
      log_info(
          "memory cannot be watched (%s): every operation on a buffer outside the symmetric memory registers it anew; "
          "shmemx_buffer_register does it ahead",
          why_not_.c_str());
  }
  return monitor_.get();
}

void LocalBuffers::join(LocalRegistrations& rail, const std::string& name) {
  const std::lock_guard lock(mutex_);
  rails_.push_back({&rail, name});
  for (const std::span<const std::byte> bytes : buffers_) add_to(rails_.back(), bytes);
}

void LocalBuffers::leave(LocalRegistrations& rail) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(rails_, [&](const Rail& other) { return other.registrations == &rail; });
}

void LocalBuffers::add(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  buffers_.push_back(bytes);
  size_t done = 0;
  try {
    for (; done < rails_.size(); ++done) add_to(rails_[done], bytes);
  } catch (...) {
    while (done-- > 0) rails_[done].registrations->registered.remove(bytes.data());
    buffers_.pop_back();
    throw;
  }
}

void LocalBuffers::add_to(const Rail& rail, std::span<const std::byte> bytes) {
  LocalRegion region;
  const int error = rail.registrations->registrar.add_unwatched(pages_of(bytes.data(), bytes.size()), region);
  if (error != 0)
    throw Error(text("%s cannot register %zu bytes at %p: %s", rail.name.c_str(), bytes.size(),
                     static_cast<const void*>(bytes.data()), std::strerror(error)));
  rail.registrations->registered.add(bytes, std::move(region));
}

void LocalBuffers::remove(const std::byte* base) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(buffers_.begin(), buffers_.end(), [&](const auto& bytes) { return bytes.data() == base; });
  if (found == buffers_.end()) return;
  for (const Rail& rail : rails_) {
    const RegisteredBuffers::Buffer* buffer = rail.registrations->registered.at(base);
    if (buffer && buffer->users > 0)
      throw Error(text("operations in flight on %s still use the buffer at %p; call shmem_quiet first",
                       rail.name.c_str(), static_cast<const void*>(base)));
  }
  for (const Rail& rail : rails_) rail.registrations->registered.remove(base);
  buffers_.erase(found);
}

std::string LocalBuffers::describe() {
  const std::lock_guard lock(mutex_);
  if (rails_.empty()) return "local buffers: the provider needs none registered\n";
  if (monitor_)
    return text(
        "local buffers: registered at first use, up to %zu of %zu bytes kept per rail, watched by userfaultfd\n",
        config_.limits.count, config_.limits.bytes);
  return text("local buffers: registered for each operation (%s), or ahead by shmemx_buffer_register\n",
              tried_ ? why_not_.c_str() : "the cache is switched off");
}

}  // namespace railshmem::ofi
