// SPDX-License-Identifier: BSD-3-Clause
// The library's own kernels, compiled and embedded. Empty where it was built without nvcc.
#pragma once

#include <cstddef>
#include <span>

namespace railshmem::cuda {

/// src/cuda/kernels/words.cu, for cuModuleLoadData.
std::span<const std::byte> word_kernels() noexcept;

}  // namespace railshmem::cuda
