// SPDX-License-Identifier: BSD-3-Clause
// The kernel that adds up, loaded by the driver.
#pragma once

#include "overlap/driver.h"
#include "overlap/kernels/sum.h"

namespace railshmem::overlap {

class Sums {
 public:
  /// Throws Error where the library was built without nvcc.
  Sums();
  ~Sums();
  Sums(const Sums&) = delete;

  void give(const SumCall& call, Stream stream) const;

 private:
  Module module_ = nullptr;
  Function sum_ = nullptr;
};

/// overlap/kernels/sum.cu, compiled; empty where there was no nvcc.
std::span<const std::byte> sum_kernels() noexcept;

}  // namespace railshmem::overlap
