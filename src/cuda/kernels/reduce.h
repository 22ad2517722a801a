// SPDX-License-Identifier: BSD-3-Clause
// Element-wise reduction of arrays, as the threads of a grid share it.
#pragma once

#include "src/cuda/kernels/elements.h"
#include "src/plugin/device_access.h"

namespace railshmem::cuda::kernels {

/// Elements that one thread loads at once.
template <class T>
struct alignas(16) Pack {
  static constexpr uint32_t kElements = 16 / sizeof(T);
  T at[kElements];
};
/// One element where arrays begin elsewhere.
template <class T>
struct Single {
  static constexpr uint32_t kElements = 1;
  T at[1];
};

RAILSHMEM_HD inline uint32_t bytes_of_element(TypeKind kind) {
  switch (kind) {
    case TypeKind::i8:
    case TypeKind::u8:
    case TypeKind::f8e4m3:
    case TypeKind::f8e5m2:
      return 1;
    case TypeKind::i16:
    case TypeKind::u16:
    case TypeKind::f16:
    case TypeKind::bf16:
      return 2;
    case TypeKind::i32:
    case TypeKind::u32:
    case TypeKind::f32:
      return 4;
    case TypeKind::c64:
    case TypeKind::long_double:
      return 16;
    default:
      return 8;
  }
}

/// What is done to each operand and to each result of a sum.
struct Scale {
  Scaling scaling;
  double factor;  ///< of each operand, or that divides the sum
  int noperands;

  /// Factors of each operand and of the sum. 1 without a factor: such a product changes no bit, but for those of a
  /// NaN.
  RAILSHMEM_HD double before() const { return scaling == Scaling::factor ? factor : 1; }
  RAILSHMEM_HD double after() const { return scaling == Scaling::average && is_exact() ? 1.0 / noperands : 1; }
  /// Whether the sum is divided too.
  RAILSHMEM_HD bool divides() const {
    return scaling == Scaling::quotient || (scaling == Scaling::average && !is_exact());
  }
  RAILSHMEM_HD double divisor() const { return scaling == Scaling::quotient ? factor : noperands; }

 private:
  /// A product with the inverse has the very bits of the quotient, which takes ten times as long.
  RAILSHMEM_HD bool is_exact() const { return (noperands & (noperands - 1)) == 0; }
};

/// Operands of one thread as they meet: as many elements as Values has.
template <class T, class Op, class Values>
struct Meeting {
  using Held = typename Element<T>::Held;
  static constexpr bool kCanScale = kScales<Held> && std::is_same_v<Op, device::Sum>;
  Held at[Values::kElements];

  RAILSHMEM_HD static Held hold(T element, const Scale& scale) {
    const Held held = Element<T>::hold(element);
    if constexpr (kCanScale) return times(held, scale.before());
    return held;
  }
  RAILSHMEM_HD void begin(const Values& first, const Scale& scale) {
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < Values::kElements; ++i) at[i] = hold(first.at[i], scale);
  }
  RAILSHMEM_HD void add(const Values& next, const Scale& scale) {
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < Values::kElements; ++i) at[i] = combine(at[i], hold(next.at[i], scale), Op{});
  }
  /// The result; kDivides: scale.divides(), which takes many more instructions.
  template <bool kDivides>
  RAILSHMEM_HD Values end_as(const Scale& scale) const {
    Values result;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < Values::kElements; ++i) {
      Held held = at[i];
      if constexpr (kCanScale) held = kDivides ? over(held, scale.divisor()) : times(held, scale.after());
      result.at[i] = Element<T>::round(held);
    }
    return result;
  }
  RAILSHMEM_HD Values end(const Scale& scale) const {
    return kCanScale && scale.divides() ? end_as<true>(scale) : end_as<false>(scale);
  }
};

/// All arrays begin where a pack may.
RAILSHMEM_HD inline bool in_packs(const DeviceReduction& r) {
  uintptr_t bits = 0;
  for (int i = 0; i < r.noperands; ++i) bits |= reinterpret_cast<uintptr_t>(r.operands[i]);
  for (int i = 0; i < r.nresults; ++i) bits |= reinterpret_cast<uintptr_t>(r.results[i]);
  return bits % 16 == 0;
}

/// Values first, first + step, ... before `end`; kFlight at a time are read from all operands before they are written
/// anywhere. Those of the first two operands are on their way at once.
template <class T, class Op, class Values, int kFlight, bool kDivides>
RAILSHMEM_HD inline void reduce_run(const DeviceReduction& r, uint64_t first, uint64_t step, uint64_t end) {
  const Scale scale{r.scaling, r.factor, r.noperands};
  RAILSHMEM_NO_UNROLL
  for (uint64_t from = first; from < end; from += kFlight * step) {
    Meeting<T, Op, Values> sum[kFlight];
    const auto place = [&](int k) {  // behind the end the first one again, so that no load waits for a branch
      const uint64_t at = from + static_cast<uint64_t>(k) * step;
      return at < end ? at : from;
    };
    Values one[kFlight], other[kFlight];
    const auto load = [&](Values(&to)[kFlight], const void* operand) RAILSHMEM_INLINE {
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) to[k] = static_cast<const Values*>(operand)[place(k)];
    };
    const auto begin = [&](const Values(&operand)[kFlight]) RAILSHMEM_INLINE {
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) sum[k].begin(operand[k], scale);
    };
    const auto add = [&](const Values(&operand)[kFlight]) RAILSHMEM_INLINE {
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) sum[k].add(operand[k], scale);
    };
    load(one, r.operands[0]);
    if (r.noperands == 1) {
      begin(one);
    } else {
      load(other, r.operands[1]);
      begin(one);
      add(other);
    }
    RAILSHMEM_NO_UNROLL
    for (int i = 2; i < r.noperands; ++i) {
      load(one, r.operands[i]);
      add(one);
    }
    RAILSHMEM_NO_UNROLL
    for (int i = 0; i < r.nresults; ++i) {
      auto* const result = static_cast<Values*>(r.results[i]);
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) {
        if (from + static_cast<uint64_t>(k) * step < end) result[place(k)] = sum[k].template end_as<kDivides>(scale);
      }
    }
  }
}

/// Loads in flight by thread and operand where a kernel has types of all sizes. Small floats take two or four times the
/// registers while they are held.
template <class T>
inline constexpr int kFlightOf = sizeof(T) >= 4   ? 4
                                 : sizeof(T) == 2 ? 2
                                                  : 1;

/// The part of thread `first` of `step`, in a kernel of one type and operation.
template <class T, class Op, int kFlight>
RAILSHMEM_HD inline void reduce_only(const DeviceReduction& r, uint64_t first, uint64_t step) {
  const uint64_t packs = in_packs(r) ? r.nelems / Pack<T>::kElements : 0;
  const uint64_t behind = packs * Pack<T>::kElements + first;
  if constexpr (Meeting<T, Op, Single<T>>::kCanScale) {
    if (Scale{r.scaling, r.factor, r.noperands}.divides()) {
      reduce_run<T, Op, Pack<T>, 1, true>(r, first, step, packs);
      return reduce_run<T, Op, Single<T>, 1, true>(r, behind, step, r.nelems);
    }
  }
  reduce_run<T, Op, Pack<T>, kFlight, false>(r, first, step, packs);
  reduce_run<T, Op, Single<T>, 1, false>(r, behind, step, r.nelems);
}

/// reduce_only(), out of line: the compiler takes much longer for one function with all types.
template <class T, class Op>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void reduce_elements(const DeviceReduction& r, uint64_t first,
                                                               uint64_t step) {
  reduce_only<T, Op, kFlightOf<T>>(r, first, step);
}

/// What host calls reduce on the GPU: no long double, which GPUs do not have, and no small floats, which host calls
/// round after each operation.
inline bool can_reduce(TypeKind kind) noexcept {
  return kind != TypeKind::long_double && kind < TypeKind::f16;
}

/// The part of thread `first` of `step`; the type is any but long double.
RAILSHMEM_HD inline void reduce(const DeviceReduction& r, uint64_t first, uint64_t step) {
  visit_element(r.kind, r.op, [&]<class T, class Op>() { reduce_elements<T, Op>(r, first, step); });
}

}  // namespace railshmem::cuda::kernels
