// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/reduce_ops.h"

namespace railshmem {
namespace {

/// Wraps without undefined behaviour: narrow types would be promoted to int, and int may not overflow.
template <class T>
using Unsigned = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;

struct And {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) noexcept {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) noexcept {
    return b < a ? b : a;
  }
};
struct Sum {
  template <class T>
  static T apply(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
    else
      return a + b;
  }
};
struct Prod {
  template <class T>
  static T apply(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
    else
      return a * b;
  }
};

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // complex products and long doubles stay scalar: nothing to warn of
#endif
template <class T, class Op>
void combine(void* out, const void* a, const void* b, size_t n) noexcept {
  auto* const to = static_cast<T*>(out);
  const auto* const x = static_cast<const T*>(a);
  const auto* const y = static_cast<const T*>(b);
  // Without this the compiler tests for overlap and takes the scalar loop when out is one of the operands, although
  // an element depends on no other.
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (size_t i = 0; i < n; ++i) {
    if constexpr (is_small_float<T>)
      to[i] = T(Op::apply(x[i].value(), y[i].value()));
    else
      to[i] = Op::apply(x[i], y[i]);
  }
}

template <class T>
constexpr Combine find(ReduceOp op) noexcept {
  constexpr bool is_integer = std::is_integral_v<T>;
  constexpr bool has_order = is_integer || std::is_floating_point_v<T> || is_small_float<T>;
  if constexpr (is_integer) {
    if (op == ReduceOp::bit_and) return combine<T, And>;
    if (op == ReduceOp::bit_or) return combine<T, Or>;
    if (op == ReduceOp::bit_xor) return combine<T, Xor>;
  }
  if constexpr (has_order) {
    if (op == ReduceOp::max) return combine<T, Max>;
    if (op == ReduceOp::min) return combine<T, Min>;
  }
  if (op == ReduceOp::sum) return combine<T, Sum>;
  if (op == ReduceOp::prod) return combine<T, Prod>;
  return nullptr;
}

/// Two's complement does not tell signed from unsigned but in comparisons.
constexpr TypeKind without_sign(ReduceOp op, TypeKind kind) noexcept {
  const bool ordered = op == ReduceOp::max || op == ReduceOp::min;
  return kind <= TypeKind::i64 && !ordered ? static_cast<TypeKind>(static_cast<int>(kind) + 4) : kind;
}

constexpr Combine find_in(ReduceOp op, TypeKind kind) noexcept {
  switch (without_sign(op, kind)) {
    case TypeKind::i8:
      return find<int8_t>(op);
    case TypeKind::i16:
      return find<int16_t>(op);
    case TypeKind::i32:
      return find<int32_t>(op);
    case TypeKind::i64:
      return find<int64_t>(op);
    case TypeKind::u8:
      return find<uint8_t>(op);
    case TypeKind::u16:
      return find<uint16_t>(op);
    case TypeKind::u32:
      return find<uint32_t>(op);
    case TypeKind::u64:
      return find<uint64_t>(op);
    case TypeKind::f32:
      return find<float>(op);
    case TypeKind::f64:
      return find<double>(op);
    case TypeKind::long_double:
      return find<long double>(op);
    case TypeKind::c32:
      return find<ComplexFloat>(op);
    case TypeKind::c64:
      return find<ComplexDouble>(op);
    case TypeKind::f16:
      return find<Half>(op);
    case TypeKind::bf16:
      return find<Bfloat16>(op);
    case TypeKind::f8e4m3:
      return find<Float8E4M3>(op);
    case TypeKind::f8e5m2:
      return find<Float8E5M2>(op);
  }
  return nullptr;
}

struct Table {
  Combine at[kReduceOps][kTypeKinds];
};
constexpr Table make_table() noexcept {
  Table table{};
  for (int op = 0; op < kReduceOps; ++op)
    for (int kind = 0; kind < kTypeKinds; ++kind)
      table.at[op][kind] = find_in(static_cast<ReduceOp>(op), static_cast<TypeKind>(kind));
  return table;
}
constexpr Table kCombines = make_table();

}  // namespace

Combine find_combine(ReduceOp op, TypeKind kind) noexcept {
  return kCombines.at[static_cast<int>(op)][static_cast<int>(kind)];
}

}  // namespace railshmem
