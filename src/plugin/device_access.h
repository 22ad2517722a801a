// SPDX-License-Identifier: BSD-3-Clause
// Contract: how host calls reach memory that the CPU cannot load from or store to, a GPU's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/amo.h"

namespace railshmem {

/// Any number of threads. Virtual: each call costs microseconds. A failure ends the job with the driver's words.
class DeviceAccess {
 public:
  virtual ~DeviceAccess() = default;

  virtual bool is_device(const void* address) noexcept = 0;
  /// Both sides may be device or host memory, of this PE or of a PE that is mapped here. Returns when the bytes are
  /// there for everybody. An aligned word of 4 or 8 bytes appears whole.
  virtual void copy(void* to, const void* from, size_t nbytes) noexcept = 0;
  /// One atomic operation on an aligned word of device memory mapped here, atomic to kernels; returns the old value.
  virtual uint64_t amo(void* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept = 0;
};

}  // namespace railshmem
