// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/put_get.h"

#include "src/base/log.h"

namespace railshmem {

void die_overflow(const char* function, size_t nelems, size_t element, int pe) noexcept {
  die("%s: %zu elements of %zu bytes (PE %d) are more than an address space; check the element count", function, nelems,
      element, pe);
}

}  // namespace railshmem
