// SPDX-License-Identifier: BSD-3-Clause
// Dispatch of many tokens between nodes. Warps that send pack the tokens for each other node into chunks, in any order,
// and the warp that fills a chunk puts it to the gateway. Then they store tokens at members of their own node, and at
// last they forward what has come: a gateway's warp stores a token at each of its members of this node.
#pragma once

#include "moe/kernels/bulk_dispatch.h"
#include "moe/kernels/bulk_far_part.h"

namespace railshmem::moe::kernels {

class BulkFarDispatch : public BulkDispatch<FarPart> {
 public:
  RAILSHMEM_KERNEL explicit BulkFarDispatch(const BulkFarDispatchCall& call)
      : BulkFarDispatch(call, FarLayout::packed_nbytes(travelling_nbytes(call.near), call.far.nodes.largest)) {}

  RAILSHMEM_KERNEL void run() {
    if (part_.has_room()) {
      if (part_.warp_sends()) {
        part_.await_done();
        pack();
        send();
        forward();
      }
      if (part_.warp_receives())
        part_.for_rows([this](int32_t from, uint32_t i) {
          if (part_.is_near(from) || !part_.is_gateway_of(from)) receive(from, i);
        });
    }
    part_.close();
  }

 private:
  RAILSHMEM_KERNEL BulkFarDispatch(const BulkFarDispatchCall& call, uint64_t packed_nbytes)
      : BulkDispatch(call.near, FarPart(call.near.members, call.near.row_nbytes, call.near.route,
                                        DeviceCall::moe_bulk_dispatch, BulkLayout::kDispatch, call.far,
                                        Chunks::rows(packed_nbytes, call.near.members.shape.max_tokens))),
        packed_nbytes_(packed_nbytes) {}

  /// A token without its header.
  RAILSHMEM_KERNEL static uint64_t travelling_nbytes(const BulkDispatchCall& call) {
    return uint64_t{static_cast<uint32_t>(call.members.shape.hidden)} * call.element_nbytes + 4 * uint64_t{call.words};
  }
  /// The header of a packed token: its number, and its numbers at the members of the node.
  RAILSHMEM_KERNEL int32_t* header_of(const Place& packed) const {
    return reinterpret_cast<int32_t*>(packed.words + call_.words);
  }

  RAILSHMEM_KERNEL void pack() {
    const auto others = static_cast<uint32_t>(part_.nodes().count - 1);
    RAILSHMEM_NO_UNROLL
    for (uint32_t t = part_.first(); t < call_.route.tokens; t += part_.step()) RAILSHMEM_NO_UNROLL
    for (uint32_t other = 0; other < others; ++other)
      if (goes_to(t, node_of(other))) pack_token(t, other);
    threads::sync_warp();
    if (part_.lane() != 0) return;
    portable::release_fence();
    if (portable::fetch_add_relaxed(part_.mine<uint64_t>(part_.far().packed()), 1) + 1 != part_.step()) return;
    portable::acquire_fence();
    portable::store_relaxed(part_.mine<uint64_t>(part_.far().packed()), uint64_t{0});
    RAILSHMEM_NO_UNROLL
    for (uint32_t other = 0; other < others; ++other) send_last(other);
  }
  RAILSHMEM_KERNEL int32_t node_of(uint32_t other) const {
    return part_.nodes().after(static_cast<int32_t>(other) + 1);
  }
  RAILSHMEM_KERNEL bool goes_to(uint32_t t, int32_t node) const {
    bool goes = false;
    RAILSHMEM_NO_UNROLL
    for (int32_t k = 0; k < part_.nodes().size(node); ++k)
      goes = goes || part_.number_at(t, part_.nodes().member(node, k)) >= 0;
    return goes;
  }
  RAILSHMEM_KERNEL void pack_token(uint32_t t, uint32_t other) {
    uint32_t place = 0;
    if (part_.lane() == 0)
      place = static_cast<uint32_t>(portable::fetch_add_relaxed(part_.mine<uint64_t>(part_.far().taken(other)), 1));
    place = threads::from_first_of_warp(place);
    const Place to = placed_at(part_.mine<Unit>(part_.far().pack(other) + place * packed_nbytes_));
    copy_units(part_, to.units, static_cast<const Unit*>(call_.x) + uint64_t{t} * units_, units_);
    copy_words(to.words, call_.x_words + uint64_t{t} * call_.words);
    const int32_t node = node_of(other), members = part_.nodes().size(node);
    if (part_.lane() == 0) header_of(to)[0] = static_cast<int32_t>(t);
    RAILSHMEM_NO_UNROLL
    for (auto k = static_cast<int32_t>(part_.lane()); k < members; k += static_cast<int32_t>(part_.lanes()))
      header_of(to)[1 + k] = part_.number_at(t, part_.nodes().member(node, k));
    threads::sync_warp();
    if (part_.lane() != 0) return;
    const uint32_t chunk = place / part_.chunk_rows();
    if (part_.fills(other, chunk, part_.chunk_rows())) send_packed(other, chunk, part_.chunk_rows());
  }
  /// The chunk that is not full, be it empty, says that there are no more.
  RAILSHMEM_KERNEL void send_last(uint32_t other) const {
    auto* const taken = part_.mine<uint64_t>(part_.far().taken(other));
    const auto tokens = static_cast<uint32_t>(portable::load_relaxed(taken));
    const uint32_t chunk = tokens / part_.chunk_rows();
    portable::store_relaxed(taken, uint64_t{0});
    portable::store_relaxed(part_.mine<uint64_t>(part_.far().filled(other, chunk)), uint64_t{0});
    send_packed(other, chunk, tokens % part_.chunk_rows());
  }
  RAILSHMEM_KERNEL void send_packed(uint32_t other, uint32_t chunk, uint32_t tokens) const {
    part_.send_chunk(other, part_.nodes().gateway(part_.me(), node_of(other)), chunk, tokens, packed_nbytes_);
  }

  /// The members whose gateway this one is share the warps among them.
  RAILSHMEM_KERNEL void forward() {
    uint32_t sources = 0, at = 0;
    RAILSHMEM_NO_UNROLL
    for (int32_t m = 0; m < part_.n(); ++m) sources += is_source(m) ? 1 : 0;
    const uint32_t warps = part_.step(), warp = part_.first();
    RAILSHMEM_NO_UNROLL
    for (int32_t m = 0; m < part_.n(); ++m) {
      if (!is_source(m)) continue;
      const uint32_t source = at++;
      if (warps < sources) {
        if (source % warps == warp) forward_from(m, 0, 1);
      } else if (warp % sources == source) {
        forward_from(m, warp / sources, (warps - source + sources - 1) / sources);
      }
    }
  }
  RAILSHMEM_KERNEL bool is_source(int32_t m) const { return !part_.is_near(m) && part_.is_gateway_of(m); }
  /// As warp `rank` of `warps`.
  RAILSHMEM_KERNEL void forward_from(int32_t s, uint32_t rank, uint32_t warps) {
    uint32_t token = rank, begin = 0, tokens = 0;
    RAILSHMEM_NO_UNROLL
    for (uint32_t chunk = 0;; ++chunk) {
      tokens = part_.await_chunk(s, chunk);
      RAILSHMEM_NO_UNROLL
      for (; token < begin + tokens; token += warps) forward_token(s, token);
      if (tokens < part_.chunk_rows()) return;
      begin += tokens;
    }
  }
  RAILSHMEM_KERNEL void forward_token(int32_t s, uint32_t token) {
    const Place from =
        placed_at(part_.mine<Unit>(part_.far().landing(BulkLayout::kDispatch, s) + uint64_t{token} * packed_nbytes_));
    const int32_t* const header = header_of(from);
    const int32_t t = header[0];
    for_units(part_, units_, [&]<uint32_t kCount>(uint32_t u, Count<kCount>) {
      const Units<kCount> units(part_, from.units, u);
      for_here(header, [&](int32_t m, uint32_t i) { units.store(part_, row_for(m, s, i).units, u); });
    });
    for_here(header, [&](int32_t m, uint32_t i) {
      copy_words(row_for(m, s, i).words, from.words);
      if (m == part_.me()) note(part_.row_from(s) + i, t);
    });
    threads::sync_warp();
    const int32_t members = part_.nodes().size(part_.nodes().node);
    if (part_.lane() < static_cast<uint32_t>(members)) portable::release_fence();
    RAILSHMEM_NO_UNROLL
    for (auto k = static_cast<int32_t>(part_.lane()); k < members; k += static_cast<int32_t>(part_.lanes())) {
      const int32_t m = part_.nodes().member(part_.nodes().node, k);
      if (header[1 + k] >= 0 && m != part_.me())
        part_.tell_row(m, s, static_cast<uint32_t>(header[1 + k]), static_cast<uint32_t>(t));
    }
  }
  /// Where token i of far member s goes at a member of this node.
  RAILSHMEM_KERNEL Place row_for(int32_t m, int32_t s, uint32_t i) const {
    if (m == part_.me()) return row_here(part_.row_from(s) + i);
    return placed_at(part_.theirs<Unit>(m, part_.places().row(BulkLayout::kDispatch, s, i)));
  }
  /// Calls with(member, number) for the members of this node that a packed token goes to.
  template <class With>
  RAILSHMEM_KERNEL void for_here(const int32_t* header, const With& with) const {
    RAILSHMEM_NO_UNROLL
    for (int32_t k = 0; k < part_.nodes().size(part_.nodes().node); ++k)
      if (header[1 + k] >= 0) with(part_.nodes().member(part_.nodes().node, k), static_cast<uint32_t>(header[1 + k]));
  }

  const uint64_t packed_nbytes_;
};

}  // namespace railshmem::moe::kernels
