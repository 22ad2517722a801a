// SPDX-License-Identifier: BSD-3-Clause
// Elements of a reduction: how each type is held while operands meet, and what the operations are. For CUDA, and for
// threads that stand for kernels.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "include/shmem/detail/operators.h"
#include "include/shmem/detail/reduce_kind.h"
#include "src/base/small_floats.h"

namespace railshmem::cuda::kernels {

template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;
};

/// Whose products with a number and whose quotients make sense.
template <class T>
inline constexpr bool kScales = std::is_floating_point_v<T>;
template <class Real>
inline constexpr bool kScales<Complex<Real>> = true;

/// Operands meet as Held: small floats as float, so that a result is rounded once, all others as they are.
template <class T>
struct Element {
  using Held = T;
  RAILSHMEM_HD static T hold(T element) { return element; }
  RAILSHMEM_HD static T round(T held) { return held; }
};

template <class T>
struct SmallElement {
  using Held = float;
  RAILSHMEM_HD static float hold(T element) {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, Half>) {
      float value;
      asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(std::bit_cast<uint16_t>(element)));
      return value;
    }
#endif
    return element.value();
  }
  RAILSHMEM_HD static T round(float held) {
#if defined(__CUDA_ARCH__)
    uint16_t bits = 0;
    if constexpr (std::is_same_v<T, Half>) {
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(held));
      return std::bit_cast<Half>(bits);
    }
#if __CUDA_ARCH__ >= 900
    if constexpr (std::is_same_v<T, Bfloat16>) {
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(held));
      return std::bit_cast<Bfloat16>(bits);
    } else if constexpr (std::is_same_v<T, Float8E4M3>) {
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : "=h"(bits) : "f"(held));
      return T::of_bits(static_cast<uint8_t>(bits));
    } else if constexpr (std::is_same_v<T, Float8E5M2>) {
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %1;" : "=h"(bits) : "f"(held));
      return T::of_bits(static_cast<uint8_t>(bits));
    }
#endif
#endif
    return T(held);
  }
};
template <>
struct Element<Half> : SmallElement<Half> {};
template <>
struct Element<Bfloat16> : SmallElement<Bfloat16> {};
template <>
struct Element<Float8E4M3> : SmallElement<Float8E4M3> {};
template <>
struct Element<Float8E5M2> : SmallElement<Float8E5M2> {};

template <class T, class Op>
RAILSHMEM_HD inline T combine(T a, T b, Op) {
  return Op::of(a, b);
}
template <class Real>
RAILSHMEM_HD inline Complex<Real> combine(Complex<Real> a, Complex<Real> b, device::Sum) {
  return {a.re + b.re, a.im + b.im};
}
template <class Real>
RAILSHMEM_HD inline Complex<Real> combine(Complex<Real> a, Complex<Real> b, device::Product) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <class T>
RAILSHMEM_HD inline T times(T value, double factor) {
  return value * static_cast<T>(factor);
}
template <class Real>
RAILSHMEM_HD inline Complex<Real> times(Complex<Real> value, double factor) {
  return {times(value.re, factor), times(value.im, factor)};
}
template <class T>
RAILSHMEM_HD inline T over(T value, double divisor) {
  return value / static_cast<T>(divisor);
}
template <class Real>
RAILSHMEM_HD inline Complex<Real> over(Complex<Real> value, double divisor) {
  return {over(value.re, divisor), over(value.im, divisor)};
}

template <class T, class Visit>
RAILSHMEM_HD inline auto visit_bounds(ReduceOp op, Visit&& visit) {
  if (op == ReduceOp::max) return visit.template operator()<T, device::Max>();
  return visit.template operator()<T, device::Min>();
}
template <class T, class Visit>
RAILSHMEM_HD inline auto visit_real(ReduceOp op, Visit&& visit) {
  if (op == ReduceOp::sum) return visit.template operator()<T, device::Sum>();
  if (op == ReduceOp::prod) return visit.template operator()<T, device::Product>();
  return visit_bounds<T>(op, visit);
}
template <class T, class Visit>
RAILSHMEM_HD inline auto visit_complex(ReduceOp op, Visit&& visit) {
  if (op == ReduceOp::sum) return visit.template operator()<T, device::Sum>();
  return visit.template operator()<T, device::Product>();
}
template <class T, class Visit>
RAILSHMEM_HD inline auto visit_integer(ReduceOp op, Visit&& visit) {
  // Of all operations only bounds depend on the sign: the bits of the others are those of unsigned ones.
  using Bits = std::make_unsigned_t<T>;
  switch (op) {
    case ReduceOp::bit_and:
      return visit.template operator()<Bits, device::And>();
    case ReduceOp::bit_or:
      return visit.template operator()<Bits, device::Or>();
    case ReduceOp::bit_xor:
      return visit.template operator()<Bits, device::Xor>();
    case ReduceOp::sum:
      return visit.template operator()<Bits, device::Sum>();
    case ReduceOp::prod:
      return visit.template operator()<Bits, device::Product>();
    default:
      return visit_bounds<T>(op, visit);
  }
}

/// Calls visit.operator()<T, Op>() with the element's type and the operation's class. The pair is one that
/// reduces() takes.
template <class Visit>
RAILSHMEM_HD inline auto visit_element(TypeKind kind, ReduceOp op, Visit&& visit) {
  switch (kind) {
    case TypeKind::i8:
      return visit_integer<int8_t>(op, visit);
    case TypeKind::u8:
      return visit_integer<uint8_t>(op, visit);
    case TypeKind::i16:
      return visit_integer<int16_t>(op, visit);
    case TypeKind::u16:
      return visit_integer<uint16_t>(op, visit);
    case TypeKind::i32:
      return visit_integer<int32_t>(op, visit);
    case TypeKind::u32:
      return visit_integer<uint32_t>(op, visit);
    case TypeKind::i64:
      return visit_integer<int64_t>(op, visit);
    case TypeKind::u64:
      return visit_integer<uint64_t>(op, visit);
    case TypeKind::f64:
      return visit_real<double>(op, visit);
    case TypeKind::c32:
      return visit_complex<Complex<float>>(op, visit);
    case TypeKind::c64:
      return visit_complex<Complex<double>>(op, visit);
    case TypeKind::f16:
      return visit_real<Half>(op, visit);
    case TypeKind::bf16:
      return visit_real<Bfloat16>(op, visit);
    case TypeKind::f8e4m3:
      return visit_real<Float8E4M3>(op, visit);
    case TypeKind::f8e5m2:
      return visit_real<Float8E5M2>(op, visit);
    default:
      return visit_real<float>(op, visit);
  }
}

}  // namespace railshmem::cuda::kernels
