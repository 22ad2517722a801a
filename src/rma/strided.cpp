// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/strided.h"

#include "src/base/log.h"
#include "src/rma/put_get.h"

namespace railshmem {
namespace {

size_t block_bytes(const char* function, const Strides& s, int pe) noexcept {
  return total_bytes(function, s.block, s.element, pe);
}

}  // namespace

size_t checked_span(const char* function, const char* which, ptrdiff_t stride, const Strides& s, int pe) noexcept {
  if (stride < 1 || static_cast<size_t>(stride) < s.block)
    die("%s: the %s stride is %td elements (PE %d); it must be at least %zu", function, which, stride, pe,
        s.block > 1 ? s.block : size_t{1});
  size_t elements = 0;
  if (__builtin_mul_overflow(s.nblocks - 1, static_cast<size_t>(stride), &elements) ||
      __builtin_add_overflow(elements, s.block, &elements))
    die_overflow(function, s.nblocks, static_cast<size_t>(stride), pe);
  return total_bytes(function, elements, s.element, pe);
}

void strided_put(PeState& state, Context& context, const char* function, void* dest, const void* source,
                 const Strides& s, int pe) noexcept {
  check_pe(state, function, pe);
  if (s.nblocks == 0 || s.block == 0) return;
  const size_t nbytes = block_bytes(function, s, pe);
  checked_span(function, "source", s.source, s, pe);
  PeerAddress there = reach(state, function, dest, checked_span(function, "dest", s.dest, s, pe), pe);
  check_local(function, "source", source, nbytes, pe);
  const size_t to_step = static_cast<size_t>(s.dest) * s.element;
  const size_t from_step = static_cast<size_t>(s.source) * s.element;
  const auto* from = static_cast<const std::byte*>(source);
  for (size_t i = 0; i < s.nblocks; ++i, from += from_step) {
    if (there.mapped) {
      move_block(state.device, there.mapped + i * to_step, from, nbytes);
    } else {
      net_issue(*state.network, put_op(*context.net, there.remote, from, nbytes, Local::awaited));
      there.remote.offset += to_step;
    }
  }
}

void strided_get(PeState& state, Context& context, const char* function, void* dest, const void* source,
                 const Strides& s, int pe) noexcept {
  check_pe(state, function, pe);
  if (s.nblocks == 0 || s.block == 0) return;
  const size_t nbytes = block_bytes(function, s, pe);
  checked_span(function, "dest", s.dest, s, pe);
  PeerAddress there = reach(state, function, source, checked_span(function, "source", s.source, s, pe), pe);
  check_local(function, "dest", dest, nbytes, pe);
  const size_t to_step = static_cast<size_t>(s.dest) * s.element;
  const size_t from_step = static_cast<size_t>(s.source) * s.element;
  auto* to = static_cast<std::byte*>(dest);
  for (size_t i = 0; i < s.nblocks; ++i, to += to_step) {
    if (there.mapped) {
      load_block(state.device, to, there.mapped + i * from_step, nbytes);
    } else {
      net_issue(*state.network, get_op(*context.net, there.remote, to, nbytes, Local::lent));
      there.remote.offset += from_step;
    }
  }
  // The blocks travel together; completing earlier operations of the context as well does no harm.
  if (!there.mapped) net_quiet(*state.network, *context.net);
}

}  // namespace railshmem
