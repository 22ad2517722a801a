// SPDX-License-Identifier: BSD-3-Clause
// Signal pads, whose size torch 2.9 fixes and newer versions let the program choose. enable() refuses older versions.
#pragma once

#include <torch/version.h>
#include <torch/csrc/distributed/c10d/symm_mem/SymmetricMemory.hpp>

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 9
#define RAILSHMEM_FIXED_PADS
#include <torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemoryTypes.hpp>
#endif

#include <cstddef>

namespace railshmem_symm_mem {

/// Bytes of the signal pad of each tensor.
inline size_t pad_nbytes() {
#if defined(RAILSHMEM_FIXED_PADS)
  return c10d::symmetric_memory::signal_pad_size;
#else
  return c10d::symmetric_memory::get_signal_pad_size();
#endif
}

/// Torch's class. That of torch 2.9 asks the backend for the size of the pad.
class SymmetricMemory : public c10d::symmetric_memory::SymmetricMemory {
#if defined(RAILSHMEM_FIXED_PADS)
 public:
  size_t get_signal_pad_size() override {
    return pad_nbytes();
  }
#endif
};

}  // namespace railshmem_symm_mem
