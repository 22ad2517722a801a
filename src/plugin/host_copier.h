// SPDX-License-Identifier: BSD-3-Clause
// Copies by the CPU: for host memory that only pretends to be out of the rails' reach.
#pragma once

#include <cstring>

#include "src/plugin/copier.h"
#include "src/plugin/execute.h"

namespace railshmem {

class HostCopier : public Copier {
 public:
  Ticket start(std::byte* to, const std::byte* from, size_t nbytes) noexcept override {
    copy(to, from, nbytes);
    return 0;
  }
  bool finished(Ticket) noexcept override { return true; }
  uint64_t amo(std::byte* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept override {
    if (width == 4)
      return execute_amo(reinterpret_cast<uint32_t*>(word), op, static_cast<uint32_t>(operand),
                         static_cast<uint32_t>(compare));
    return execute_amo(reinterpret_cast<uint64_t*>(word), op, operand, compare);
  }

 protected:
  /// Reads words whole, too, that others change atomically.
  static void copy(std::byte* to, const std::byte* from, size_t nbytes) noexcept {
    const uintptr_t address = reinterpret_cast<uintptr_t>(from);
    if (nbytes == 8 && address % 8 == 0) {
      const uint64_t word = __atomic_load_n(reinterpret_cast<const uint64_t*>(from), __ATOMIC_ACQUIRE);
      copy_whole(to, reinterpret_cast<const std::byte*>(&word), 8);
    } else if (nbytes == 4 && address % 4 == 0) {
      const uint32_t word = __atomic_load_n(reinterpret_cast<const uint32_t*>(from), __ATOMIC_ACQUIRE);
      copy_whole(to, reinterpret_cast<const std::byte*>(&word), 4);
    } else {
      std::memcpy(to, from, nbytes);
    }
  }
};

}  // namespace railshmem
