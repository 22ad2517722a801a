// SPDX-License-Identifier: BSD-3-Clause
// The library's own kernels, compiled and embedded, for cuModuleLoadData. Empty where it was built without nvcc.
#pragma once

#include <cstddef>
#include <span>

namespace railshmem::cuda {

/// src/cuda/kernels/words.cu
std::span<const std::byte> words_kernels() noexcept;
/// src/cuda/kernels/reduce.cu
std::span<const std::byte> reduce_kernels() noexcept;
/// src/cuda/kernels/stream.cu
std::span<const std::byte> stream_kernels() noexcept;
/// src/cuda/kernels/coll.cu
std::span<const std::byte> coll_kernels() noexcept;

}  // namespace railshmem::cuda
