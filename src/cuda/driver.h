// SPDX-License-Identifier: BSD-3-Clause
// The few functions of the CUDA driver that the library calls. Loaded when a device heap is made, never linked: the
// library starts where there is no driver.
#pragma once

#include <optional>
#include <string>

namespace railshmem::cuda {

// Types and numbers of the driver's stable ABI, so that no CUDA header is needed to build.
using Result = int;  ///< CUresult; 0 is success
using Device = int;  ///< CUdevice
using Context = void*;

enum class Attribute : int { flush_writes_options = 117, writes_ordering = 118 };  // ..._GPU_DIRECT_RDMA_...
inline constexpr int kFlushByHost = 1;                                             ///< bit of flush_writes_options
inline constexpr int kOrderedForOwner = 100;  ///< least writes_ordering at which the owner needs no flush
inline constexpr int kTargetCurrentContext = 0;
inline constexpr int kScopeOwner = 100;

/// Entries may be null where the driver is too old to have them: flush needs 11.3.
struct Driver {
  Result (*init)(unsigned flags) = nullptr;
  Result (*device_attribute)(int* value, Attribute, Device) = nullptr;
  Result (*device_name)(char* name, int size, Device) = nullptr;
  Result (*push_context)(Context) = nullptr;
  Result (*pop_context)(Context*) = nullptr;
  Result (*error_string)(Result, const char** text) = nullptr;
  Result (*flush_rdma_writes)(int target, int scope) = nullptr;
};

/// libcuda.so.1 of this machine, initialised; nothing where there is none. Stays loaded.
std::optional<Driver> load_driver();

/// "no CUDA-capable device is detected (100)"
std::string explain(const Driver& driver, Result result);

}  // namespace railshmem::cuda
