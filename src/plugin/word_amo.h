// SPDX-License-Identifier: BSD-3-Clause
// An atomic operation on a word of memory that the CPU may not reach, as a value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/amo.h"
#include "src/plugin/execute.h"

namespace railshmem {

/// On an aligned word of `width` bytes, 4 or 8.
struct WordAmo {
  std::byte* word;
  uint8_t width;
  AmoOp op;
  uint64_t operand;
  uint64_t compare;
  uint64_t old = 0;  ///< set when it is executed; of `set`, which does not read, 0

  /// On the copy of the word at `copy`, which the CPU reaches.
  void execute_on(std::byte* copy) noexcept {
    old = width == 4 ? execute_amo(reinterpret_cast<uint32_t*>(copy), op, static_cast<uint32_t>(operand),
                                   static_cast<uint32_t>(compare))
                     : execute_amo(reinterpret_cast<uint64_t*>(copy), op, operand, compare);
  }
};

}  // namespace railshmem
