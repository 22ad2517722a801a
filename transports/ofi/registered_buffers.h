// SPDX-License-Identifier: BSD-3-Clause
// Buffers that the program registered ahead (shmemx_buffer_register), as one rail knows them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "transports/ofi/domain_registrar.h"

namespace railshmem::ofi {

/// Used by one thread at a time, like the rail. The caller makes sure that buffers do not overlap.
class RegisteredBuffers {
 public:
  struct Buffer {
    std::span<const std::byte> bytes;
    LocalRegion region;
    uint32_t users = 0;  ///< operations in flight
  };

  void add(std::span<const std::byte> bytes, LocalRegion region) {
    buffers_.insert(behind(bytes.data()), Buffer{bytes, std::move(region), 0});
  }
  /// The buffer that begins at `base`; null when none begins there.
  const Buffer* at(const std::byte* base) noexcept {
    const auto place = behind(base);
    return place != buffers_.begin() && std::prev(place)->bytes.data() == base ? &*std::prev(place) : nullptr;
  }
  void remove(const std::byte* base) noexcept {
    if (at(base)) buffers_.erase(std::prev(behind(base)));
  }

  /// The descriptor of a buffer that has all these bytes. The buffer is held until release() of any of the bytes. False
  /// when there is no such buffer. Bytes count, not pages: other data in a page must not depend on this registration.
  bool hold(const std::byte* p, size_t nbytes, LocalUse use, void*& desc) noexcept {
    if (buffers_.empty()) return false;
    const auto place = behind(p);
    if (place == buffers_.begin()) return false;
    Buffer& buffer = *std::prev(place);
    const auto offset = static_cast<size_t>(p - buffer.bytes.data());
    if (offset >= buffer.bytes.size() || nbytes > buffer.bytes.size() - offset) return false;
    if (use == LocalUse::destination && !buffer.region.writable()) return false;
    ++buffer.users;
    desc = buffer.region.desc();
    return true;
  }
  void release(const std::byte* p) noexcept { --std::prev(behind(p))->users; }

 private:
  std::vector<Buffer>::iterator behind(const std::byte* p) noexcept {
    return std::partition_point(buffers_.begin(), buffers_.end(),
                                [&](const Buffer& buffer) { return buffer.bytes.data() <= p; });
  }

  std::vector<Buffer> buffers_;  ///< sorted
};

}  // namespace railshmem::ofi
