// SPDX-License-Identifier: BSD-3-Clause
// Element-wise reduction of arrays, as the threads of a grid share it.
#pragma once

#include "include/shmem/detail/operators.h"
#include "src/plugin/device_access.h"

namespace railshmem::cuda::kernels {

template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;
};

template <class Real>
RAILSHMEM_HD inline Complex<Real> combine(Complex<Real> a, Complex<Real> b, device::Sum) {
  return {a.re + b.re, a.im + b.im};
}
template <class Real>
RAILSHMEM_HD inline Complex<Real> combine(Complex<Real> a, Complex<Real> b, device::Product) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T, class Op>
RAILSHMEM_HD inline T combine(T a, T b, Op) {
  return Op::of(a, b);
}

/// Elements that one thread loads at once.
template <class T>
struct alignas(16) Pack {
  static constexpr uint32_t kElements = 16 / sizeof(T);
  T at[kElements];
};
inline constexpr int kPacksInFlight = 4;  ///< by thread and operand

template <class T, class Op>
RAILSHMEM_HD inline Pack<T> combine(const Pack<T>& a, const Pack<T>& b, Op op) {
  Pack<T> sum;
  RAILSHMEM_UNROLL
  for (uint32_t i = 0; i < Pack<T>::kElements; ++i) sum.at[i] = combine(a.at[i], b.at[i], op);
  return sum;
}

/// All arrays begin where a pack may.
RAILSHMEM_HD inline bool in_packs(const DeviceReduction& r) {
  uintptr_t bits = 0;
  for (int i = 0; i < r.noperands; ++i) bits |= reinterpret_cast<uintptr_t>(r.operands[i]);
  for (int i = 0; i < r.nresults; ++i) bits |= reinterpret_cast<uintptr_t>(r.results[i]);
  return bits % 16 == 0;
}

/// Values first, first + step, ... before `end`, elements or packs of them; kFlight at a time are read from all
/// operands before they are written anywhere.
template <class Value, class Op, int kFlight>
RAILSHMEM_HD inline void reduce_run(const DeviceReduction& r, uint64_t first, uint64_t step, uint64_t end) {
  RAILSHMEM_NO_UNROLL
  for (uint64_t from = first; from < end; from += kFlight * step) {
    Value sum[kFlight];
    const auto place = [&](int k) {  // behind the end the first one again, so that no load waits for a branch
      const uint64_t at = from + static_cast<uint64_t>(k) * step;
      return at < end ? at : from;
    };
    RAILSHMEM_UNROLL
    for (int k = 0; k < kFlight; ++k) sum[k] = static_cast<const Value*>(r.operands[0])[place(k)];
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < r.noperands; ++i) {
      const auto* const operand = static_cast<const Value*>(r.operands[i]);
      Value next[kFlight];
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) next[k] = operand[place(k)];
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) sum[k] = combine(sum[k], next[k], Op{});
    }
    RAILSHMEM_NO_UNROLL
    for (int i = 0; i < r.nresults; ++i) {
      auto* const result = static_cast<Value*>(r.results[i]);
      RAILSHMEM_UNROLL
      for (int k = 0; k < kFlight; ++k) {
        if (from + static_cast<uint64_t>(k) * step < end) result[place(k)] = sum[k];
      }
    }
  }
}

/// The part of thread `first` of `step`.
template <class T, class Op>
RAILSHMEM_HD inline void reduce_elements(const DeviceReduction& r, uint64_t first, uint64_t step) {
  const uint64_t packs = in_packs(r) ? r.nelems / Pack<T>::kElements : 0;
  reduce_run<Pack<T>, Op, kPacksInFlight>(r, first, step, packs);
  reduce_run<T, Op, 1>(r, packs * Pack<T>::kElements + first, step, r.nelems);
}

template <class T>
RAILSHMEM_HD inline void reduce_bounds(const DeviceReduction& r, uint64_t first, uint64_t step) {
  if (r.op == ReduceOp::max) return reduce_elements<T, device::Max>(r, first, step);
  reduce_elements<T, device::Min>(r, first, step);
}

template <class T>
RAILSHMEM_HD inline void reduce_values(const DeviceReduction& r, uint64_t first, uint64_t step) {
  if (r.op == ReduceOp::sum) return reduce_elements<T, device::Sum>(r, first, step);
  if (r.op == ReduceOp::prod) return reduce_elements<T, device::Product>(r, first, step);
  reduce_bounds<T>(r, first, step);
}

template <class T>
RAILSHMEM_HD inline void reduce_integers(const DeviceReduction& r, uint64_t first, uint64_t step) {
  switch (r.op) {
    case ReduceOp::bit_and:
      return reduce_elements<T, device::And>(r, first, step);
    case ReduceOp::bit_or:
      return reduce_elements<T, device::Or>(r, first, step);
    case ReduceOp::bit_xor:
      return reduce_elements<T, device::Xor>(r, first, step);
    case ReduceOp::sum:
      return reduce_elements<T, device::Sum>(r, first, step);
    case ReduceOp::prod:
      return reduce_elements<T, device::Product>(r, first, step);
    default:
      reduce_bounds<T>(r, first, step);
  }
}

template <class T>
RAILSHMEM_HD inline void reduce_complex(const DeviceReduction& r, uint64_t first, uint64_t step) {
  if (r.op == ReduceOp::sum) return reduce_elements<T, device::Sum>(r, first, step);
  reduce_elements<T, device::Product>(r, first, step);
}

/// GPUs have no long double.
inline bool can_reduce(TypeKind kind) noexcept {
  return kind != TypeKind::long_double && kind < TypeKind::f16;
}

/// The part of thread `first` of `step`.
RAILSHMEM_HD inline void reduce(const DeviceReduction& r, uint64_t first, uint64_t step) {
  // Of all operations only these two depend on the sign: the bits of the others are those of unsigned ones.
  const bool has_sign = r.op == ReduceOp::max || r.op == ReduceOp::min;
  switch (r.kind) {
    case TypeKind::i8:
      if (has_sign) return reduce_bounds<int8_t>(r, first, step);
      [[fallthrough]];
    case TypeKind::u8:
      return reduce_integers<uint8_t>(r, first, step);
    case TypeKind::i16:
      if (has_sign) return reduce_bounds<int16_t>(r, first, step);
      [[fallthrough]];
    case TypeKind::u16:
      return reduce_integers<uint16_t>(r, first, step);
    case TypeKind::i32:
      if (has_sign) return reduce_bounds<int32_t>(r, first, step);
      [[fallthrough]];
    case TypeKind::u32:
      return reduce_integers<uint32_t>(r, first, step);
    case TypeKind::i64:
      if (has_sign) return reduce_bounds<int64_t>(r, first, step);
      [[fallthrough]];
    case TypeKind::u64:
      return reduce_integers<uint64_t>(r, first, step);
    case TypeKind::f32:
      return reduce_values<float>(r, first, step);
    case TypeKind::f64:
      return reduce_values<double>(r, first, step);
    case TypeKind::c32:
      return reduce_complex<Complex<float>>(r, first, step);
    case TypeKind::c64:
      return reduce_complex<Complex<double>>(r, first, step);
    case TypeKind::long_double:
    case TypeKind::f16:
    case TypeKind::bf16:
      return;  // can_reduce() keeps them away
  }
}

}  // namespace railshmem::cuda::kernels
