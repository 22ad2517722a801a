// SPDX-License-Identifier: BSD-3-Clause
#include "src/check/collective.h"

namespace railshmem::check {

void check_collective(Team& team, CollectiveCall& call, const Buffer& dest, const Buffer& source,
                      InPlace in_place) noexcept {
  must_be_symmetric(team.state, call.function(), dest);
  must_be_symmetric(team.state, call.function(), source);
  if (in_place == InPlace::allowed)
    may_be_in_place(call.function(), dest, source);
  else
    must_not_overlap(call.function(), dest, source);
  // With nothing to move any address will do.
  if (dest.nbytes > 0) call.address(dest.argument, dest.address);
  if (source.nbytes > 0) call.address(source.argument, source.address);
  must_agree(team, call);
}

size_t strided_bytes(size_t nelems, ptrdiff_t stride, size_t element) noexcept {
  size_t elements = 0;
  size_t nbytes = 0;
  if (nelems == 0 || stride < 1) return 0;
  if (__builtin_mul_overflow(nelems - 1, static_cast<size_t>(stride), &elements)) return 0;
  return __builtin_mul_overflow(elements + 1, element, &nbytes) ? 0 : nbytes;
}

}  // namespace railshmem::check
