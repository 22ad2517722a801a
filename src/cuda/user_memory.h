// SPDX-License-Identifier: BSD-3-Clause
// Device memory that the program allocated and mapped itself, as extents that can be mapped once more.
#pragma once

#include <cstddef>
#include <vector>

#include "src/cuda/physical_memory.h"

namespace railshmem::cuda {

/// What is behind a range of addresses: whole mappings, in their order.
struct UserMemory {
  size_t offset = 0;  ///< of the range in the first one
  size_t nbytes = 0;  ///< of all of them
  std::vector<PhysicalMemory> extents;
};

/// `to_share`: other processes are to be given it. Throws Error where [address, address + nbytes) is not memory of
/// cuMemCreate on this GPU from end to end.
UserMemory find_user_memory(const DeviceContext& gpu, void* address, size_t nbytes, bool to_share);

}  // namespace railshmem::cuda
