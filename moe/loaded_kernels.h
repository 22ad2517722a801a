// SPDX-License-Identifier: BSD-3-Clause
// The kernels, loaded by the driver into the current context.
#pragma once

#include <shmemx_moe.h>

#include <cstddef>
#include <span>

#include "moe/kernels/call.h"
#include "overlap/driver.h"

namespace railshmem::moe {

using overlap::Stream;

class LoadedKernels {
 public:
  /// Those that the configuration needs. Throws Error where the library was built without nvcc.
  explicit LoadedKernels(const shmemx_moe_config_t& config);
  ~LoadedKernels();
  LoadedKernels(const LoadedKernels&) = delete;

  void give(const DispatchCall& call, unsigned blocks, unsigned threads, Stream stream) const;
  void give(const CombineCall& call, unsigned blocks, unsigned threads, Stream stream) const;

 private:
  overlap::Module module_ = nullptr;
  overlap::Function dispatch_ = nullptr, combine_ = nullptr;
};

/// moe/kernels/moe.cu, compiled; empty where there was no nvcc.
std::span<const std::byte> moe_kernels() noexcept;

}  // namespace railshmem::moe
