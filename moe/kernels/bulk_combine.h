// SPDX-License-Identifier: BSD-3-Clause
// Combine of many tokens: a warp sends a row back to its token's member, where another one adds up the token's rows in
// the order of ranks, in float, and rounds once.
#pragma once

#include "moe/kernels/bulk_part.h"
#include "src/base/small_floats.h"

namespace railshmem::moe::kernels {

/// T: of the rows. MyPart: BulkPart, or that of a team over several nodes.
template <class T, class MyPart>
class BulkCombine {
 public:
  RAILSHMEM_KERNEL explicit BulkCombine(const BulkCombineCall& call)
      : BulkCombine(call, BulkPart(call.members, call.row_nbytes, call.route, DeviceCall::moe_bulk_combine,
                                   BulkLayout::kCombine)) {}

  RAILSHMEM_KERNEL void run() {
    if (part_.has_room()) {
      if (part_.warp_sends()) {
        part_.await_done();
        send();
      }
      if (part_.warp_receives()) receive();
    }
    part_.close();
  }

 protected:
  RAILSHMEM_KERNEL BulkCombine(const BulkCombineCall& call, const MyPart& part)
      : call_(call), part_(part), units_(static_cast<uint32_t>(part_.shape().hidden) / kElements) {}

  static constexpr uint32_t kElements = kUnit / sizeof(T);
  struct alignas(kUnit) Elements {
    T at[kElements];
  };
  struct Sums {
    float at[kElements];
  };

  RAILSHMEM_KERNEL const Unit* row_here(uint32_t row) const {
    return static_cast<const Unit*>(call_.rows) + uint64_t{row} * units_;
  }
  RAILSHMEM_KERNEL void send() {
    part_.for_rows([&](int32_t to, uint32_t i) {
      if (!part_.is_near(to)) return;
      auto* const there = part_.template theirs<Unit>(to, part_.places().row(BulkLayout::kCombine, part_.me(), i));
      copy_units(part_, there, row_here(part_.row_from(to) + i), units_);
      threads::sync_warp();
      if (part_.lane() != 0) return;
      portable::release_fence();
      part_.tell_row(to, part_.me(), i, 0);
    });
  }

  RAILSHMEM_KERNEL void receive() {
    RAILSHMEM_NO_UNROLL
    for (uint32_t t = part_.first(); t < call_.route.tokens; t += part_.step()) {
      RAILSHMEM_NO_UNROLL
      for (int32_t m = 0; m < part_.n(); ++m) {
        const int32_t i = part_.number_at(t, m);
        if (i >= 0 && m != part_.me()) part_.await_row_back(m, static_cast<uint32_t>(i));
      }
      auto* const out = static_cast<Elements*>(call_.out) + uint64_t{t} * units_;
      for_units(part_, units_, [&]<uint32_t kCount>(uint32_t u, Count<kCount>) { add_up<kCount>(t, u, out); });
    }
  }

  const BulkCombineCall& call_;
  MyPart part_;
  const uint32_t units_;

 private:
  /// The rows' units u, u + lanes and so on.
  template <uint32_t kCount>
  RAILSHMEM_KERNEL void add_up(uint32_t t, uint32_t u, Elements* out) const {
    Sums sums[kCount] = {};
    RAILSHMEM_NO_UNROLL
    for (int32_t m = 0; m < part_.n(); ++m) {
      const int32_t i = part_.number_at(t, m);
      if (i < 0) continue;
      const auto number = static_cast<uint32_t>(i);
      const Unit* const row = m == part_.me() ? row_here(part_.row_from(m) + number) : part_.row_back(m, number);
      const Units<kCount> units(part_, row, u);
      RAILSHMEM_UNROLL
      for (uint32_t j = 0; j < kCount; ++j) {
        const Elements elements = of_unit<Elements>(units.at[j]);
        RAILSHMEM_UNROLL
        for (uint32_t e = 0; e < kElements; ++e) sums[j].at[e] += elements.at[e].value();
      }
    }
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) {
      Elements result;
      RAILSHMEM_UNROLL
      for (uint32_t e = 0; e < kElements; ++e) result.at[e] = T(sums[j].at[e]);
      out[u + j * part_.lanes()] = result;
    }
  }
};

}  // namespace railshmem::moe::kernels
