// SPDX-License-Identifier: BSD-3-Clause
// Element-wise arithmetic of reductions, by operation and by how an element is represented.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "include/shmem/detail/reduce_kind.h"
#include "src/base/small_floats.h"

namespace railshmem {

__extension__ typedef float _Complex ComplexFloat;
__extension__ typedef double _Complex ComplexDouble;

template <class T>
constexpr TypeKind type_kind() noexcept {
  if constexpr (std::is_same_v<T, ComplexFloat>) {
    return TypeKind::c32;
  } else if constexpr (std::is_same_v<T, ComplexDouble>) {
    return TypeKind::c64;
  } else if constexpr (std::is_same_v<T, Half>) {
    return TypeKind::f16;
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return TypeKind::bf16;
  } else if constexpr (std::is_same_v<T, Float8E4M3>) {
    return TypeKind::f8e4m3;
  } else if constexpr (std::is_same_v<T, Float8E5M2>) {
    return TypeKind::f8e5m2;
  } else if constexpr (std::is_same_v<T, float>) {
    return TypeKind::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return TypeKind::f64;
  } else if constexpr (std::is_same_v<T, long double>) {
    return TypeKind::long_double;
  } else {
    static_assert(std::is_integral_v<T> && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8));
    constexpr int log2_size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<TypeKind>(log2_size + (std::is_signed_v<T> ? 0 : 4));
  }
}

/// out[i] = a[i] op b[i] for n elements. `out` may be the array `a`, `b` or both, but must not overlap them in part.
/// Integers wrap. The order of the two operands matters only to the bits of a NaN and of a zero's sign.
using Combine = void (*)(void* out, const void* a, const void* b, size_t n) noexcept;

/// Null where the standard has no such reduction: bits of floating-point types, minimum and maximum of complex ones.
Combine find_combine(ReduceOp op, TypeKind kind) noexcept;

}  // namespace railshmem
