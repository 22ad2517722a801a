// SPDX-License-Identifier: BSD-3-Clause
// Errors of the CUDA runtime as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace railshmem::perf::gpu {

inline void check(cudaError_t result, const char* call) {
  if (result != cudaSuccess)
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorName(result) + ", " + cudaGetErrorString(result));
}

}  // namespace railshmem::perf::gpu

#define CUDA_CHECK(call) ::railshmem::perf::gpu::check(call, #call)
