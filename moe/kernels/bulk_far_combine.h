// SPDX-License-Identifier: BSD-3-Clause
// Combine of many tokens between nodes. Rows go to a far member in chunks; it adds up all rows of a token as inside a
// node. They are packed before, though they lie one behind the other: copies from the program's own memory wait for
// locks that a program may hold while it waits for this kernel
// (docs/decisions/0025-progress-without-multiprocessors.md).
#pragma once

#include "moe/kernels/bulk_combine.h"
#include "moe/kernels/bulk_far_part.h"

namespace railshmem::moe::kernels {

template <class T>
class BulkFarCombine : public BulkCombine<T, FarPart> {
  using Base = BulkCombine<T, FarPart>;
  using Base::call_, Base::part_;

 public:
  RAILSHMEM_KERNEL explicit BulkFarCombine(const BulkFarCombineCall& call)
      : Base(call.near,
             FarPart(call.near.members, call.near.row_nbytes, call.near.route, DeviceCall::moe_bulk_combine,
                     BulkLayout::kCombine, call.far,
                     Chunks::rows(row_nbytes(call.near.members.shape), call.near.members.shape.max_tokens))) {}

  RAILSHMEM_KERNEL void run() {
    if (part_.has_room()) {
      if (part_.warp_sends()) {
        part_.await_done();
        send_far();
        Base::send();
      }
      if (part_.warp_receives()) {
        await_far();
        Base::receive();
      }
    }
    part_.close();
  }

 private:
  RAILSHMEM_KERNEL static uint64_t row_nbytes(const Shape& shape) {
    return sizeof(T) * static_cast<uint64_t>(shape.hidden);
  }
  /// A chunk goes to everybody, be it empty: who has all of them knows that nobody will still say that it was done with
  /// the call before.
  RAILSHMEM_KERNEL void send_far() {
    const uint64_t nbytes = row_nbytes(part_.shape());
    const uint32_t warp = part_.first();
    if (part_.lane() == 0) RAILSHMEM_NO_UNROLL
    for (uint32_t k = warp; k < others(); k += part_.step())
      if (part_.count_from(far_member(k)) == 0) part_.send_chunk(k, far_member(k), 0, 0, nbytes);
    part_.for_rows([&](int32_t to, uint32_t i) {
      if (part_.is_near(to)) return;
      const uint32_t target = part_.nodes().number_among_far(to);
      copy_units(part_, part_.template mine<Unit>(part_.far().pack(target) + i * nbytes),
                 Base::row_here(part_.row_from(to) + i), Base::units_);
      threads::sync_warp();
      if (part_.lane() != 0) return;
      const uint32_t most = part_.chunk_rows(), chunk = i / most, left = part_.count_from(to) - chunk * most;
      const uint32_t rows = left < most ? left : most;
      if (part_.fills(target, chunk, rows)) part_.send_chunk(target, to, chunk, rows, nbytes);
    });
  }
  RAILSHMEM_KERNEL uint32_t others() const { return static_cast<uint32_t>(part_.nodes().far_members()); }
  RAILSHMEM_KERNEL int32_t far_member(uint32_t k) const { return part_.nodes().far_member(static_cast<int32_t>(k)); }
  RAILSHMEM_KERNEL void await_far() {
    RAILSHMEM_NO_UNROLL
    for (uint32_t k = 0; k < others(); ++k) part_.await_chunk(far_member(k), 0);
  }
};

}  // namespace railshmem::moe::kernels
