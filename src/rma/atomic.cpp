// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/atomic.h"

#include "src/base/log.h"

namespace railshmem {

void die_misaligned(const char* function, const void* address, size_t width, int pe) noexcept {
  die("%s: address %p (for PE %d) is not a multiple of %zu, so the operation could not be atomic; align the object",
      function, address, pe, width);
}

}  // namespace railshmem
