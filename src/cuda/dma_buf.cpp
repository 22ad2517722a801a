// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/dma_buf.h"

#include "src/cuda/context_guard.h"

namespace railshmem::cuda {

UniqueFd dma_buf_of(const DeviceContext& gpu, const void* address, size_t nbytes) noexcept {
  if (!gpu.capabilities().dma_bufs) return UniqueFd();
  const ContextGuard guard(gpu);
  int fd = -1;
  const Result result = gpu.driver().range_handle(&fd, address_of(address), nbytes, kRangeHandleDmaBuf, 0);
  if (result == kSuccess) return UniqueFd(fd);
  gpu.log_failure(result, "cuMemGetHandleForAddressRange");
  return UniqueFd();
}

}  // namespace railshmem::cuda
