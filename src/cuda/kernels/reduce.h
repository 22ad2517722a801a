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
};

/// Operands of one thread as they meet: as many elements as Values has.
template <class T, class Op, class Values>
struct Meeting {
  using Held = typename Element<T>::Held;
  static constexpr bool kCanScale = kScales<Held> && std::is_same_v<Op, device::Sum>;
  Held at[Values::kElements];

  RAILSHMEM_HD static Held hold(T element, const Scale& scale) {
    const Held held = Element<T>::hold(element);
    if constexpr (kCanScale) {
      if (scale.scaling == Scaling::factor) return times(held, scale.factor);
    }
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
  RAILSHMEM_HD Values end(const Scale& scale) const {
    Values result;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < Values::kElements; ++i) {
      Held held = at[i];
      if constexpr (kCanScale) {
        if (scale.scaling == Scaling::average) held = over(held, scale.noperands);
        if (scale.scaling == Scaling::quotient) held = over(held, scale.factor);
      }
      result.at[i] = Element<T>::round(held);
    }
    return result;
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
/// anywhere.
template <class T, class Op, class Values, int kFlight>
RAILSHMEM_HD inline void reduce_run(const DeviceReduction& r, uint64_t first, uint64_t step, uint64_t end) {
  const Scale scale{r.scaling, r.factor, r.noperands};
  RAILSHMEM_NO_UNROLL
  for (uint64_t from = first; from < end; from += kFlight * step) {
    Meeting<T, Op, Values> sum[kFlight];
    const auto place = [&](int k) {  // behind the end the first one again, so that no load waits for a branch
      const uint64_t at = from + static_cast<uint64_t>(k) * step;
      return at < end ? at : from;
    };
    Values next[kFlight];
    const auto load = [&](const void* operand) {
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) next[k] = static_cast<const Values*>(operand)[place(k)];
    };
    load(r.operands[0]);
    RAILSHMEM_UNROLL
    for (int k = 0; k < kFlight; ++k) sum[k].begin(next[k], scale);
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < r.noperands; ++i) {
      load(r.operands[i]);
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) sum[k].add(next[k], scale);
    }
    RAILSHMEM_NO_UNROLL
    for (int i = 0; i < r.nresults; ++i) {
      auto* const result = static_cast<Values*>(r.results[i]);
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) {
        if (from + static_cast<uint64_t>(k) * step < end) result[place(k)] = sum[k].end(scale);
      }
    }
  }
}

/// The part of thread `first` of `step`. Out of line: the compiler takes much longer for one function with all types.
template <class T, class Op>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void reduce_elements(const DeviceReduction& r, uint64_t first,
                                                               uint64_t step) {
  // Loads in flight by thread and operand. Small floats take two or four times the registers while they are held.
  constexpr int kFlight = sizeof(T) >= 4 ? 4 : sizeof(T) == 2 ? 2 : 1;
  const uint64_t packs = in_packs(r) ? r.nelems / Pack<T>::kElements : 0;
  reduce_run<T, Op, Pack<T>, kFlight>(r, first, step, packs);
  reduce_run<T, Op, Single<T>, 1>(r, packs * Pack<T>::kElements + first, step, r.nelems);
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
