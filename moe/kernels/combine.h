// SPDX-License-Identifier: BSD-3-Clause
// Combine: a member sums up the weighted rows of a token's experts that it has, as float, and the token's own member
// adds the members' sums in the order of ranks and rounds once.
#pragma once

#include "moe/kernels/part.h"
#include "src/base/small_floats.h"

namespace railshmem::moe::kernels {

template <class T>
class Combining {
 public:
  static constexpr uint32_t kElements = kUnit / sizeof(T);

  RAILSHMEM_KERNEL Combining(Part& part, const CombineCall& call, Shared& shared)
      : part_(part), call_(call), shared_(shared), epoch_(part.epoch()) {}

  RAILSHMEM_KERNEL void send() {
    part_.learn_tokens(shared_);
    // Sums that have to cross go first.
    part_.for_tokens(shared_, 1, [&](int32_t source, uint32_t t) {
      if (!sum_up(source, t)) return;
      threads::sync_block();
      // release: pairs with the acquire of await(); without it the sums could come after their word.
      if (Part::thread() == 0)
        portable::store_release(part_.theirs<uint64_t>(source, part_.layout().summed(part_.me(), t)), epoch_);
    });
  }

  RAILSHMEM_KERNEL void receive() {
    RAILSHMEM_NO_UNROLL
    for (uint32_t t = part_.block(); t < call_.tokens; t += part_.blocks()) {
      const uint64_t mask = *part_.mine<uint64_t>(part_.layout().mask(t));
      await_members(t, mask);
      finish(t, mask);
    }
  }

 private:
  struct alignas(kUnit) Elements {
    T at[kElements];
  };
  struct alignas(kUnit) Four {
    float at[4];
  };
  struct Sums {
    Four half[kElements / 4];
    RAILSHMEM_KERNEL float& at(uint32_t i) { return half[i / 4].at[i % 4]; }
  };
  RAILSHMEM_KERNEL uint32_t units() const { return static_cast<uint32_t>(part_.shape().hidden) / kElements; }

  static constexpr uint32_t kRowsAtOnce = 4;
  using Some = Entries<kRowsAtOnce>;

  /// Returns whether the token has an expert here, equally in all threads.
  RAILSHMEM_KERNEL bool sum_up(int32_t source, uint32_t t) {
    const auto* const found = part_.mine<uint64_t>(part_.layout().found(source, t));
    auto* const to = part_.theirs<Sums>(source, part_.layout().sums(part_.me(), t));
    const Some first(found);
    if (Entry::place(first.at[0]) == Entry::kNone) return false;
    RAILSHMEM_NO_UNROLL
    for (auto u = static_cast<uint32_t>(Part::thread()); u < units(); u += static_cast<uint32_t>(Part::threads())) {
      Sums sums = {};
      add_rows(first, u, sums);
      RAILSHMEM_NO_UNROLL
      for (uint32_t i = kRowsAtOnce; i < part_.shape().entries(); i += kRowsAtOnce) {
        const Some more(found + i);
        if (Entry::place(more.at[0]) == Entry::kNone) break;
        add_rows(more, u, sums);
      }
      RAILSHMEM_UNROLL
      for (uint32_t i = 0; i < kElements / 4; ++i) to[u].half[i] = sums.half[i];
    }
    return true;
  }
  /// All loads are on their way before the first sum.
  RAILSHMEM_KERNEL void add_rows(const Some& some, uint32_t u, Sums& sums) const {
    Unit row[kRowsAtOnce];
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kRowsAtOnce; ++i) {
      const uint32_t found = Entry::place(some.at[i]);
      if (found != Entry::kNone)
        row[i] = copying::load(static_cast<const Unit*>(call_.rows) + uint64_t{found} * units() + u);
    }
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kRowsAtOnce; ++i) {
      if (Entry::place(some.at[i]) == Entry::kNone) continue;
      const float weight = float_of(Entry::weight(some.at[i]));
      const Elements elements = of_unit<Elements>(row[i]);
      RAILSHMEM_UNROLL
      for (uint32_t j = 0; j < kElements; ++j) sums.at(j) += weight * elements.at[j].value();
    }
  }

  /// Every thread waits, so that warps need not meet.
  RAILSHMEM_KERNEL void await_members(uint32_t t, uint64_t mask) {
    RAILSHMEM_NO_UNROLL
    for (int32_t from = 0; from < part_.n(); ++from)
      if ((mask >> from & 1) != 0) part_.await(part_.mine<uint64_t>(part_.layout().summed(from, t)), epoch_, from);
  }

  RAILSHMEM_KERNEL void finish(uint32_t t, uint64_t mask) {
    auto* const out = static_cast<Elements*>(call_.out) + uint64_t{t} * units();
    RAILSHMEM_NO_UNROLL
    for (auto u = static_cast<uint32_t>(Part::thread()); u < units(); u += static_cast<uint32_t>(Part::threads())) {
      Sums sums = {};
      RAILSHMEM_NO_UNROLL
      for (int32_t from = 0; from < part_.n(); ++from) {
        if ((mask >> from & 1) == 0) continue;
        Sums theirs = part_.mine<Sums>(part_.layout().sums(from, t))[u];
        RAILSHMEM_UNROLL
        for (uint32_t j = 0; j < kElements; ++j) sums.at(j) += theirs.at(j);
      }
      Elements result;
      RAILSHMEM_UNROLL
      for (uint32_t j = 0; j < kElements; ++j) result.at[j] = T(sums.at(j));
      out[u] = result;
    }
  }

  Part& part_;
  const CombineCall& call_;
  Shared& shared_;
  const uint64_t epoch_;
};

template <class T>
RAILSHMEM_KERNEL inline void run_combine(const CombineCall& call, Shared& shared) {
  Part part(call.members, DeviceCall::moe_combine, call.halves);
  Combining<T> combining(part, call, shared);
  if (part.sends()) combining.send();
  if (part.receives()) combining.receive();
}

}  // namespace railshmem::moe::kernels
