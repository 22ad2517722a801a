// SPDX-License-Identifier: BSD-3-Clause
// The store loop of load/store transports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/plugin/device_access.h"
#include "src/rma/map_ahead.h"

namespace railshmem {

/// Copies between private and mapped memory. Up to 16 bytes without a call; an aligned 8-byte (or 4-byte) copy is one
/// access, so that a reader never sees half of it.
[[gnu::always_inline]] inline void copy_block(void* to, const void* from, size_t nbytes) noexcept {
  if (nbytes == 8) {
    uint64_t value;
    __builtin_memcpy(&value, from, 8);
    __builtin_memcpy(to, &value, 8);
    return;
  }
  if (nbytes == 4) {
    uint32_t value;
    __builtin_memcpy(&value, from, 4);
    __builtin_memcpy(to, &value, 4);
    return;
  }
  std::memcpy(to, from, nbytes);
}

/// Copies between any two places, of which `device` may have to reach one; `device` is null in jobs without GPUs.
[[gnu::always_inline]] inline void move_block(DeviceAccess* device, void* to, const void* from,
                                              size_t nbytes) noexcept {
  if (device) [[unlikely]]
    return device->copy(to, from, nbytes);
  copy_block(to, from, nbytes);
}

/// move_block() into memory of a peer.
[[gnu::always_inline]] inline void store_block(DeviceAccess* device, std::byte* to, const void* from,
                                               size_t nbytes) noexcept {
  if (nbytes >= kMapAheadFrom && !device) [[unlikely]]
    map_ahead(to, nbytes);
  move_block(device, to, from, nbytes);
}

}  // namespace railshmem
