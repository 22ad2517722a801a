// SPDX-License-Identifier: BSD-3-Clause
// Dispatch of many tokens: a warp stores a token at each member that it goes to, and another one there moves it to its
// row.
#pragma once

#include "moe/kernels/bulk_part.h"

namespace railshmem::moe::kernels {

/// MyPart: BulkPart, or that of a team over several nodes.
template <class MyPart>
class BulkDispatch {
 public:
  RAILSHMEM_KERNEL explicit BulkDispatch(const BulkDispatchCall& call)
      : BulkDispatch(call, BulkPart(call.members, call.row_nbytes, call.route, DeviceCall::moe_bulk_dispatch,
                                    BulkLayout::kDispatch)) {}

  RAILSHMEM_KERNEL void run() {
    if (part_.has_room()) {
      if (part_.warp_sends()) {
        part_.await_done();
        send();
      }
      if (part_.warp_receives()) part_.for_rows([this](int32_t from, uint32_t i) { receive(from, i); });
    }
    part_.close();
  }

 protected:
  RAILSHMEM_KERNEL BulkDispatch(const BulkDispatchCall& call, const MyPart& part)
      : call_(call), part_(part), units_(static_cast<uint32_t>(part_.shape().hidden) * call.element_nbytes / kUnit) {}

  /// Where a token is: its channels, and the words that travel with it.
  struct Place {
    Unit* units;
    uint32_t* words;
  };
  RAILSHMEM_KERNEL Place placed_at(Unit* units) const { return {units, reinterpret_cast<uint32_t*>(units + units_)}; }
  RAILSHMEM_KERNEL Place row_here(uint32_t row) const {
    return {static_cast<Unit*>(call_.rows) + uint64_t{row} * units_, call_.row_words + uint64_t{row} * call_.words};
  }
  /// Where the token's row at a member goes: into that one's memory, or to its row here.
  RAILSHMEM_KERNEL Place row_at(int32_t m, uint32_t i) const {
    if (m == part_.me()) return row_here(part_.row_from(m) + i);
    return placed_at(part_.template theirs<Unit>(m, part_.places().row(BulkLayout::kDispatch, part_.me(), i)));
  }
  RAILSHMEM_KERNEL void copy_words(uint32_t* to, const uint32_t* from) const {
    RAILSHMEM_NO_UNROLL
    for (uint32_t w = part_.lane(); w < call_.words; w += part_.lanes()) to[w] = from[w];
  }
  RAILSHMEM_KERNEL void note(uint32_t row, int32_t token) const {
    if (call_.sources != nullptr && part_.lane() == 0) call_.sources[row] = token;
  }

  RAILSHMEM_KERNEL void send() {
    RAILSHMEM_NO_UNROLL
    for (uint32_t t = part_.first(); t < call_.route.tokens; t += part_.step()) {
      const auto* const from = static_cast<const Unit*>(call_.x) + uint64_t{t} * units_;
      for_units(part_, units_, [&]<uint32_t kCount>(uint32_t u, Count<kCount>) {
        const Units<kCount> units(part_, from, u);
        for_members(t, [&](int32_t m, uint32_t i) { units.store(part_, row_at(m, i).units, u); });
      });
      for_members(t, [&](int32_t m, uint32_t i) {
        copy_words(row_at(m, i).words, call_.x_words + uint64_t{t} * call_.words);
        if (m == part_.me()) note(part_.row_from(m) + i, static_cast<int32_t>(t));
      });
      threads::sync_warp();
      tell(t);
    }
  }
  RAILSHMEM_KERNEL void receive(int32_t from, uint32_t i) {
    const int32_t token = part_.await_row(from, i);
    const Place there = placed_at(part_.template mine<Unit>(part_.places().row(BulkLayout::kDispatch, from, i)));
    const uint32_t row = part_.row_from(from) + i;
    const Place here = row_here(row);
    copy_units(part_, here.units, there.units, units_);
    copy_words(here.words, there.words);
    note(row, token);
  }

  const BulkDispatchCall& call_;
  MyPart part_;
  const uint32_t units_;

 private:
  RAILSHMEM_KERNEL void tell(uint32_t t) const {
    if (part_.lane() < static_cast<uint32_t>(part_.n())) portable::release_fence();
    RAILSHMEM_NO_UNROLL
    for (auto m = static_cast<int32_t>(part_.lane()); m < part_.n(); m += static_cast<int32_t>(part_.lanes())) {
      const int32_t i = part_.number_at(t, m);
      if (i >= 0 && m != part_.me() && part_.is_near(m)) part_.tell_row(m, part_.me(), static_cast<uint32_t>(i), t);
    }
  }
  /// Calls with(member, number) for the near members that the token goes to, the next ones first.
  template <class With>
  RAILSHMEM_KERNEL void for_members(uint32_t t, const With& with) const {
    RAILSHMEM_NO_UNROLL
    for (int32_t k = 1; k <= part_.n(); ++k) {
      const int32_t m = part_.after(k == part_.n() ? 0 : k), i = part_.number_at(t, m);
      if (i >= 0 && part_.is_near(m)) with(m, static_cast<uint32_t>(i));
    }
  }
};

}  // namespace railshmem::moe::kernels
