// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/put_get.h"

#include "src/base/log.h"

namespace railshmem {

void put_own(const PeState& state, const char* function, void* dest, const void* source, size_t nbytes,
             int pe) noexcept {
  std::byte* const to = own_address(state, function, dest, nbytes, pe);
  check_local(function, "source", source, nbytes, pe);
  move_block(state.device, to, source, nbytes);
}

void get_own(const PeState& state, const char* function, void* dest, const void* source, size_t nbytes,
             int pe) noexcept {
  const std::byte* const from = own_address(state, function, source, nbytes, pe);
  check_local(function, "dest", dest, nbytes, pe);
  move_block(state.device, dest, from, nbytes);
}

void die_overflow(const char* function, size_t nelems, size_t element, int pe) noexcept {
  die("%s: %zu elements of %zu bytes (PE %d) are more than an address space; check the element count", function, nelems,
      element, pe);
}

}  // namespace railshmem
