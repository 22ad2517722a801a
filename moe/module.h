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

/// A kernel, and whether it waits by itself for the kernels before it (begin_kernel()), so that it may begin while they
/// end.
struct Kernel {
  overlap::Function function = nullptr;
  bool waits = false;
};

class Module {
 public:
  /// Throws Error where the library was built without nvcc.
  explicit Module(std::span<const std::byte> image = moe_kernels());
  ~Module();
  Module(const Module&) = delete;

  Kernel kernel(const char* name) const;

 private:
  overlap::Module module_ = nullptr;
};

/// All blocks of a kernel run at once, because some wait for others.
void launch(Kernel kernel, void** parameters, unsigned blocks, unsigned threads, Stream stream);
template <class Call>
void launch(Kernel kernel, const Call& call, unsigned blocks, unsigned threads, Stream stream) {
  Call copy = call;
  void* parameters[] = {&copy};
  launch(kernel, parameters, blocks, threads, stream);
}

/// Multiprocessors of the current context's GPU. Throws Error where there is no context.
unsigned multiprocessors_here();

}  // namespace railshmem::moe
