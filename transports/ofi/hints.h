// SPDX-License-Identifier: BSD-3-Clause
// The hints that we give libfabric, and a provider's answer in words.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/env_types.h"
#include "transports/ofi/fid.h"

namespace railshmem::ofi {

/// The interface version we program against; newer libraries keep its semantics.
uint32_t api_version() noexcept;

/// The kind of progress that we ask fi_getinfo for.
enum class Progress : uint8_t { manual, thread };
/// Memory that providers must reach to be listed.
enum class Memories : uint8_t { host, host_and_gpu };

/// Hints for reliable endpoints with messages and RMA, every registration mode that MemoryRegion can handle.
Info make_hints(Progress progress, Memories memories = Memories::host);

/// Negotiated modes, one word each: "mr_mode virt_addr,prov_key" and the like; for SHMEM_INFO.
std::string mr_mode_text(const fi_info& info);
std::string progress_text(const fi_info& info);
std::string order_text(const fi_info& info);

/// True when sends stay behind earlier writes to their peer, at both ends and including the data.
bool orders_message_after_write(const fi_info& info) noexcept;

}  // namespace railshmem::ofi
