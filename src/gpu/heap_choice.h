// SPDX-License-Identifier: BSD-3-Clause
// Whether the symmetric heap is to be in the memory of GPUs.
#pragma once

#include <cstddef>
#include <string>

#include "src/base/env.h"
#include "src/cuda/driver.h"

namespace railshmem {

struct HeapChoice {
  bool device = false;
  bool has_context = false;  ///< the program has chosen its GPU
  size_t limit = 0;          ///< bytes that the heap may grow to
  bool lacks_gpu = false;    ///< the program has kernels that use the library, and this machine cannot run them
  std::string reason;        ///< for SHMEM_INFO
};

/// `driver` null: no driver. `has_kernels`: some unit of the program has kernels that use the library. Throws Error
/// where SHMEM_HEAP_KIND asks for what cannot be had.
HeapChoice choose_heap(const Env& env, const cuda::Driver* driver, bool has_kernels);

}  // namespace railshmem
