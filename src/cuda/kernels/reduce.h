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

/// Elements first, first + step, ...: each is read from all operands before it is written anywhere.
template <class T, class Op>
RAILSHMEM_HD inline void reduce_elements(const DeviceReduction& r, uint64_t first, uint64_t step) {
  for (uint64_t e = first; e < r.nelems; e += step) {
    T sum = static_cast<const T*>(r.operands[0])[e];
    for (int i = 1; i < r.noperands; ++i) sum = combine(sum, static_cast<const T*>(r.operands[i])[e], Op{});
    for (int i = 0; i < r.nresults; ++i) static_cast<T*>(r.results[i])[e] = sum;
  }
}

template <class T>
RAILSHMEM_HD inline void reduce_values(const DeviceReduction& r, uint64_t first, uint64_t step) {
  switch (r.op) {
    case ReduceOp::max:
      return reduce_elements<T, device::Max>(r, first, step);
    case ReduceOp::min:
      return reduce_elements<T, device::Min>(r, first, step);
    case ReduceOp::sum:
      return reduce_elements<T, device::Sum>(r, first, step);
    default:
      return reduce_elements<T, device::Product>(r, first, step);
  }
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
    default:
      return reduce_values<T>(r, first, step);
  }
}

template <class T>
RAILSHMEM_HD inline void reduce_complex(const DeviceReduction& r, uint64_t first, uint64_t step) {
  if (r.op == ReduceOp::sum) return reduce_elements<T, device::Sum>(r, first, step);
  reduce_elements<T, device::Product>(r, first, step);
}

/// GPUs have no long double.
inline bool can_reduce(TypeKind kind) noexcept {
  return kind != TypeKind::long_double;
}

/// The part of thread `first` of `step`.
RAILSHMEM_HD inline void reduce(const DeviceReduction& r, uint64_t first, uint64_t step) {
  switch (r.kind) {
    case TypeKind::i8:
      return reduce_integers<int8_t>(r, first, step);
    case TypeKind::i16:
      return reduce_integers<int16_t>(r, first, step);
    case TypeKind::i32:
      return reduce_integers<int32_t>(r, first, step);
    case TypeKind::i64:
      return reduce_integers<int64_t>(r, first, step);
    case TypeKind::u8:
      return reduce_integers<uint8_t>(r, first, step);
    case TypeKind::u16:
      return reduce_integers<uint16_t>(r, first, step);
    case TypeKind::u32:
      return reduce_integers<uint32_t>(r, first, step);
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
      return;
  }
}

}  // namespace railshmem::cuda::kernels
