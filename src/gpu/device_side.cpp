// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/device_side.h"

#include <cstring>
#include <exception>

#include "src/base/log.h"
#include "src/cuda/pointer_info.h"
#include "src/plugin/execute.h"

namespace railshmem {

bool DeviceSide::in_heaps(const void* address) const noexcept {
  const cuda::DeviceArena& arena = memory_.arena();
  return static_cast<size_t>(static_cast<const std::byte*>(address) - arena.base()) < arena.nbytes();
}

bool DeviceSide::is_device(const void* address) noexcept {
  return in_heaps(address) || cuda::is_device_memory(memory_.gpu().driver(), address);
}

void DeviceSide::copy(void* to, const void* from, size_t nbytes) noexcept {
  if (is_device(to) || is_device(from)) return memory_.copies().copy(to, from, nbytes);
  if (nbytes == 4 || nbytes == 8)
    copy_whole(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), nbytes);
  else
    std::memcpy(to, from, nbytes);
}

uint64_t DeviceSide::amo(void* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept {
  try {
    std::call_once(kernel_made_, [this] { kernel_ = std::make_unique<cuda::WordKernel>(memory_.gpu()); });
  } catch (const std::exception& error) {
    die("an atomic operation on device memory: %s", error.what());
  }
  return kernel_->amo(word, width, op, operand, compare);
}

}  // namespace railshmem
