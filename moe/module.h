// SPDX-License-Identifier: BSD-3-Clause
// The compiled kernels, loaded by the driver into the current context.
#pragma once

#include <cstddef>
#include <span>

#include "overlap/driver.h"

namespace railshmem::moe {

using overlap::Stream;

/// moe/kernels/moe.cu, moe_masking.cu, moe_far.cu and moe_far_masking.cu, compiled; empty where there was no nvcc.
std::span<const std::byte> moe_kernels() noexcept;
std::span<const std::byte> moe_masking_kernels() noexcept;
std::span<const std::byte> moe_far_kernels() noexcept;
std::span<const std::byte> moe_far_masking_kernels() noexcept;

class Module {
 public:
  /// Throws Error where the library was built without nvcc.
  explicit Module(std::span<const std::byte> image = moe_kernels());
  ~Module();
  Module(const Module&) = delete;

  overlap::Function function(const char* name) const;

 private:
  overlap::Module module_ = nullptr;
};

/// All blocks of a kernel run at once, because some wait for others.
template <class Call>
void launch(overlap::Function function, const Call& call, unsigned blocks, unsigned threads, Stream stream) {
  Call copy = call;
  void* parameters[] = {&copy};
  overlap::must(overlap::driver().launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr),
                "cuLaunchKernel");
}

/// Multiprocessors of the current context's GPU. Throws Error where there is no context.
unsigned multiprocessors_here();

}  // namespace railshmem::moe
