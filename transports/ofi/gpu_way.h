// SPDX-License-Identifier: BSD-3-Clause
// How the rails of a NIC come to memory of GPUs: what is asked for, and what the provider grants.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/base/env_types.h"
#include "src/plugin/network.h"
#include "transports/ofi/fid.h"
#include "transports/ofi/nic_facts.h"

namespace railshmem::ofi {

/// hmem: registered by address (FI_HMEM_CUDA); dmabuf: by descriptor; either: by address, or else by descriptor.
/// pretended: as the host's, for tests.
enum class GpuWay : uint8_t { staging, hmem, dmabuf, either, pretended };

const char* name_of(GpuWay way) noexcept;

/// What a job asks for: staging without a device heap. Throws Error for a way that this libfabric does not have.
GpuWay wanted_way(const NetworkConfig& config);

/// `auto` takes FI_HMEM only where it does not change which NICs are used.
inline bool is_asked_for(OfiHmemMode mode) noexcept {
  return mode == OfiHmemMode::hmem || mode == OfiHmemMode::dmabuf;
}

/// The entry of `granted`, which was listed with FI_HMEM, for the same endpoint as this one; null: there is none.
const fi_info* twin_of(const fi_info& plain, std::span<const Info> granted) noexcept;

/// Has the provider promise not to call CUDA from this endpoint, which is not enabled yet. False: it does not.
bool forbid_cuda(fid_ep& endpoint) noexcept;
/// Whether a provider promises to move GPU memory without calling CUDA. One that does not may wait in the middle of a
/// call for a kernel which waits for this PE. Opens an endpoint to ask.
bool moves_without_cuda(const fi_info& granted, const NicFacts& facts);

}  // namespace railshmem::ofi
