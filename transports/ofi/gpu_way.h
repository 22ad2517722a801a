// SPDX-License-Identifier: BSD-3-Clause
// How the rails of a NIC reach GPU memory: the ways that a job asks for, and those that the provider grants.
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

/// hmem: registered by address (FI_HMEM_CUDA). dmabuf: registered by descriptor. either: by address, or else by
/// descriptor. pretended: registered like host memory, for tests.
enum class GpuWay : uint8_t { staging, hmem, dmabuf, either, pretended };

const char* name_of(GpuWay way) noexcept;

/// The way that a job asks for; `staging` where it has no device heap. Throws Error for a way that this libfabric
/// lacks.
GpuWay wanted_way(const NetworkConfig& config);

/// `auto` takes FI_HMEM only where it does not change which NICs are used.
inline bool is_asked_for(OfiHmemMode mode) noexcept {
  return mode == OfiHmemMode::hmem || mode == OfiHmemMode::dmabuf;
}

/// The entry of `granted`, the list with FI_HMEM, that is for the endpoint of `plain`; null: none exists.
const fi_info* twin_of(const fi_info& plain, std::span<const Info> granted) noexcept;

/// Asks the provider to promise that this endpoint, not enabled yet, never calls CUDA. False: it does not promise.
bool forbid_cuda(fid_ep& endpoint) noexcept;
/// Whether a provider promises to move GPU memory without calling CUDA. A provider that calls CUDA may wait in the
/// middle of a call for a kernel that waits for this PE. Opens an endpoint to ask.
bool moves_without_cuda(const fi_info& granted, const NicFacts& facts);

}  // namespace railshmem::ofi
