// SPDX-License-Identifier: BSD-3-Clause
//
// Operands of reductions whose exact result everybody can compute: integers wrap, floating-point values are chosen so
// that sums and products of a few are exact in any order.
#ifndef CONFORMANCE_REDUCE_VALUES_H
#define CONFORMANCE_REDUCE_VALUES_H

#include <shmem.h>

#include <random>
#include <type_traits>
#include <vector>

template <class T>
constexpr bool kIsComplex = std::is_same_v<T, railshmem_complexf> || std::is_same_v<T, railshmem_complexd>;

inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Element i of PE `pe` in round `round`.
template <class T>
T operand(int pe, size_t i, unsigned round) {
  const uint64_t bits = mix(i * 1000003u + static_cast<uint64_t>(pe) * 7919u + round * 104729u + 1);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if constexpr (kIsComplex<T>) {
    using Real = std::conditional_t<std::is_same_v<T, railshmem_complexf>, float, double>;
    static const Real kParts[][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {2, 0}, {-1, 1}};
    const Real* parts = kParts[bits % 7];
    T value;
    __real__ value = parts[0];
    __imag__ value = parts[1];
    return value;
  } else {
    static const T kValues[] = {1, -1, 2, -2, static_cast<T>(0.5), static_cast<T>(-0.5), 1};
    return kValues[bits % 7];
  }
}

enum class Op { And, Or, Xor, Max, Min, Sum, Prod };

template <class T>
T apply(Op op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    switch (op) {
      case Op::And:
        return static_cast<T>(x & y);
      case Op::Or:
        return static_cast<T>(x | y);
      case Op::Xor:
        return static_cast<T>(x ^ y);
      case Op::Sum:
        return static_cast<T>(x + y);
      case Op::Prod:
        return static_cast<T>(x * y);
      default:
        break;
    }
  }
  if (op == Op::Sum) return static_cast<T>(a + b);
  if constexpr (!kIsComplex<T>) {
    if (op == Op::Max) return a > b ? a : b;
    if (op == Op::Min) return a < b ? a : b;
  }
  return static_cast<T>(a * b);
}

/// What the PEs [0, npes) give together; `world` names the PE of a rank.
template <class T, class World>
T expected(Op op, int npes, size_t i, unsigned round, World&& world) {
  T value = operand<T>(world(0), i, round);
  for (int rank = 1; rank < npes; ++rank) value = apply(op, value, operand<T>(world(rank), i, round));
  return value;
}

#endif
