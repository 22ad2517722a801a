// SPDX-License-Identifier: BSD-3-Clause
// What is behind an address, as the driver knows it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/cuda/driver.h"

namespace railshmem::cuda {

/// managed: moves between host and device; the CPU may use it as well.
enum class MemoryOf : uint8_t { host, pinned_host, device, managed };

struct PointerInfo {
  MemoryOf kind = MemoryOf::host;
  Device device = -1;       ///< -1: none
  uint64_t buffer_id = 0;   ///< of the allocation, never used again: tells a freed and reused address
  Address range_start = 0;  ///< of the allocation; of virtual memory: of the reservation, however it is mapped
  size_t range_nbytes = 0;
};

/// Tells a piece of memory from whatever its addresses may mean later: ids are not used again in this process. Zeros:
/// the driver has no memory there.
struct MemoryId {
  uint64_t buffer = 0;
  uint64_t block = 0;  ///< of the physical memory; 0 where the driver does not tell
  bool operator==(const MemoryId&) const = default;
};
MemoryId memory_id(const Driver& driver, Address address) noexcept;

/// Whether the CPU cannot read there. A few tenths of a microsecond; needs a context.
bool is_device_memory(const Driver& driver, const void* pointer) noexcept;
/// Addresses that the driver does not know are plain host memory.
PointerInfo inspect(const Driver& driver, const void* pointer) noexcept;

}  // namespace railshmem::cuda
