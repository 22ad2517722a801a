// SPDX-License-Identifier: BSD-3-Clause
// A GPU's memory as a file descriptor that the kernel's other drivers (those of NICs) understand.
#pragma once

#include <cstddef>

#include "src/base/unique.h"
#include "src/cuda/device.h"

namespace railshmem::cuda {

/// Of mapped device memory; both ends at host pages. Empty, with a debug line, where the device or this range cannot.
UniqueFd dma_buf_of(const DeviceContext& gpu, const void* address, size_t nbytes) noexcept;

}  // namespace railshmem::cuda
