// SPDX-License-Identifier: BSD-3-Clause
// What the kernels for many tokens between nodes share: chunks that go by the network, each with a signal that has the
// number of its call, and how a call ends for members on other nodes.
#pragma once

#include "moe/kernels/bulk_far.h"
#include "moe/kernels/bulk_part.h"
#include "moe/kernels/puts.h"

namespace railshmem::moe::kernels {

class FarPart : public BulkPart {
 public:
  RAILSHMEM_KERNEL FarPart(const Members& members, uint64_t row_nbytes, const BulkRoute& route, DeviceCall call,
                           Kind kind, const BulkFar& far, uint32_t chunk_rows)
      : BulkPart(members, row_nbytes, route, call, kind),
        members_(members),
        far_(far),
        call_(call),
        chunk_rows_(chunk_rows) {}

  RAILSHMEM_KERNEL const BulkNodes& nodes() const { return far_.nodes; }
  RAILSHMEM_KERNEL const FarLayout& far() const { return far_.places; }
  RAILSHMEM_KERNEL uint32_t chunk_rows() const { return chunk_rows_; }
  RAILSHMEM_KERNEL bool is_near(int32_t m) const { return members_.memory[m] != nullptr; }
  /// Whether this member takes in what far member s sends to its node.
  RAILSHMEM_KERNEL bool is_gateway_of(int32_t s) const { return nodes().gateway(s, nodes().node) == me(); }

  /// Waits until all who get something from here are done with the call before this one. The warp.
  RAILSHMEM_KERNEL void await_done() {
    for_each_member([this](int32_t m) {
      if (m != me() && (is_near(m) || kind() == BulkLayout::kCombine || nodes().gateway(me(), nodes().node_of[m]) == m))
        await_done_of(m);
    });
  }

  /// Says that one more of the `rows` of a chunk is packed. True for the last one. One lane, behind a meeting of the
  /// warp that packed it.
  RAILSHMEM_KERNEL bool fills(uint32_t target, uint32_t chunk, uint32_t rows) const {
    auto* const filled = mine<uint64_t>(far().filled(target, chunk));
    portable::release_fence();
    if (portable::fetch_add_relaxed(filled, 1) + 1 != rows) return false;
    portable::acquire_fence();
    portable::store_relaxed(filled, uint64_t{0});
    return true;
  }
  /// Puts a chunk of packed rows, of row_nbytes each, into the landing of member `to`. One thread.
  RAILSHMEM_KERNEL void send_chunk(uint32_t target, int32_t to, uint32_t chunk, uint32_t rows,
                                   uint64_t row_nbytes) const {
    const uint64_t before = uint64_t{chunk} * chunk_rows_ * row_nbytes;
    put_chunk(call_, members_.pe[to], mine<unsigned char>(far().landing(kind(), me()) + before),
              mine<unsigned char>(far().pack(target) + before), rows * row_nbytes,
              mine<uint64_t>(far().word(kind(), me(), chunk)), BulkWord::of(number(), rows));
  }
  /// Waits for a chunk of far member m. Returns how many rows it has; after a failure, which ends the job, none.
  RAILSHMEM_KERNEL uint32_t await_chunk(int32_t m, uint32_t chunk) {
    const uint64_t least = BulkWord::of(number(), 0);
    const uint64_t word = await(mine<uint64_t>(far().word(kind(), m, chunk)), least, m);
    return word < least ? 0 : static_cast<uint32_t>(BulkWord::token(word));
  }

  /// Waits for row i that member m sends back. The chunk of a far one says it.
  RAILSHMEM_KERNEL void await_row_back(int32_t m, uint32_t i) {
    if (is_near(m))
      await_row(m, i);
    else
      await_chunk(m, i / chunk_rows_);
  }
  RAILSHMEM_KERNEL const Unit* row_back(int32_t m, uint32_t i) const {
    if (is_near(m)) return BulkPart::row_back(m, i);
    return mine<Unit>(far().landing(BulkLayout::kCombine, m) + 2 * uint64_t{i} * static_cast<uint32_t>(shape().hidden));
  }

  /// As that of BulkPart. Then packed rows have left, and those who put something here hear that this member is done.
  RAILSHMEM_KERNEL void close() const {
    threads::sync_block();
    if (thread() != 0) return;
    await_puts(call_);
    if (!end()) return;
    for_each_member([this](int32_t m) {
      if (is_near(m))
        tell_done(m);
      else if (kind() == BulkLayout::kCombine || is_gateway_of(m))
        put_chunk(call_, members_.pe[m], nullptr, nullptr, 0, mine<uint64_t>(BulkLayout::done(kind(), me())), number());
    });
  }

 private:
  const Members& members_;
  const BulkFar& far_;
  const DeviceCall call_;
  const uint32_t chunk_rows_;
};

}  // namespace railshmem::moe::kernels
