// SPDX-License-Identifier: BSD-3-Clause
// Kinds of memory in which the buffers of a collective lie.
#pragma once

#include <array>
#include <cstdint>

namespace railshmem::perf::gpu::coll {

enum class Memory : uint8_t {
  heap,          ///< RailSHMEM: shmem_malloc; NCCL: ncclMemAlloc, registered as a symmetric window
  registered,    ///< cudaMalloc; RailSHMEM: shmemx_coll_register; NCCL: ncclCommRegister
  unregistered,  ///< cudaMalloc
};

/// In the order of the enumeration.
inline constexpr std::array<const char*, 3> kMemories{"heap", "registered", "unregistered"};

constexpr const char* name_of(Memory memory) {
  return kMemories[static_cast<size_t>(memory)];
}

}  // namespace railshmem::perf::gpu::coll
