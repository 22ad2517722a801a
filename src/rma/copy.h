// SPDX-License-Identifier: BSD-3-Clause
// The store loop of load/store transports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/plugin/device_access.h"
#include "src/rma/map_ahead.h"

namespace railshmem {

/// Copies between private and mapped memory. Up to 16 bytes without a call; an aligned copy of 8, 4 or 2 bytes is one
/// access, so that a reader never sees half of it. The memcpy of some processors stores 2 bytes one by one.
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
  if (nbytes == 2) {
    uint16_t value;
    __builtin_memcpy(&value, from, 2);
    __builtin_memcpy(to, &value, 2);
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

/// A blocking get from memory of a peer: what this PE reads afterwards is not older than what the get brought.
[[gnu::always_inline]] inline void load_block(DeviceAccess* device, void* to, const std::byte* from,
                                              size_t nbytes) noexcept {
  move_block(device, to, from, nbytes);
  // acquire: pairs with the fence of the PE that wrote; x86 orders loads without an instruction.
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/// move_block() into memory of a peer.
[[gnu::always_inline]] inline void store_block(DeviceAccess* device, std::byte* to, const void* from,
                                               size_t nbytes) noexcept {
  if (nbytes >= kMapAheadFrom && !device) [[unlikely]]
    map_ahead(to, nbytes);
  move_block(device, to, from, nbytes);
}

}  // namespace railshmem
