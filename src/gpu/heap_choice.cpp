// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/heap_choice.h"

#include <algorithm>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/cuda/device.h"
#include "src/cuda/device_arena.h"
#include "src/cuda/local_devices.h"

namespace railshmem {
namespace {

constexpr size_t kMostAddresses = size_t{1} << 48;  // no machine has more

size_t largest_memory(const cuda::Driver& driver) {
  size_t largest = 0;
  for (const cuda::LocalDevice& device : cuda::local_devices(driver)) {
    size_t nbytes = 0;
    if (driver.device_total_memory(&nbytes, device.device) == cuda::kSuccess) largest = std::max(largest, nbytes);
  }
  return largest;
}

}  // namespace

HeapChoice choose_heap(const Env& env, const cuda::Driver* driver, bool has_kernels) {
  if (env.heap_kind == HeapKind::host) return {false, false, 0, false, "SHMEM_HEAP_KIND asks for host memory"};
  const bool has_devices = driver && !cuda::local_devices(*driver).empty();
  if (!has_devices) {
    if (env.heap_kind == HeapKind::device)
      throw Error(
          "SHMEM_HEAP_KIND is device, but this machine has no GPU or no CUDA driver (libcuda.so.1) that works; "
          "set it to host or auto, or look at nvidia-smi");
    return {false, false, 0, has_kernels,
            has_kernels ? "no GPU found (look at nvidia-smi)"
                        : "the program has no kernels of this library and has not loaded the CUDA driver"};
  }
  HeapChoice choice;
  choice.has_context = cuda::DeviceContext::is_current(*driver);
  choice.device = env.heap_kind == HeapKind::device || has_kernels || choice.has_context;
  if (!choice.device) {
    choice.reason = "no kernel of the program uses the library";
    return choice;
  }
  cuda::need(*driver, cuda::Calls::memory, "a symmetric heap in device memory", "set SHMEM_HEAP_KIND to host");
  choice.limit = env.device_heap_max != 0 ? env.device_heap_max : largest_memory(*driver);
  choice.limit = align_up(std::clamp<size_t>(choice.limit, 1, kMostAddresses), cuda::DeviceArena::kAlign);
  choice.reason = env.heap_kind == HeapKind::device ? "SHMEM_HEAP_KIND asks for device memory"
                  : has_kernels                     ? "kernels of the program use the library"
                                                    : "a CUDA context was there at the start";
  return choice;
}

}  // namespace railshmem
