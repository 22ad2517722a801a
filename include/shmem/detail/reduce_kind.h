// SPDX-License-Identifier: BSD-3-Clause
// What a reduction computes, as numbers that host and kernels share.
#ifndef SHMEM_DETAIL_REDUCE_KIND_H
#define SHMEM_DETAIL_REDUCE_KIND_H

#include <stdint.h>

namespace railshmem {

enum class ReduceOp : uint8_t { bit_and, bit_or, bit_xor, max, min, sum, prod };
inline constexpr int kReduceOps = 7;

/// C types of one representation share a kind: long, long long, int64_t and ptrdiff_t are all i64.
// clang-format off
enum class TypeKind : uint8_t {
  i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, long_double, c32, c64, f16, bf16, f8e4m3, f8e5m2
};
// clang-format on
inline constexpr int kTypeKinds = 17;

/// What a sum does beside adding. average: the sum is divided by the number of operands. factor: each operand is
/// multiplied first.
enum class Scaling : uint8_t { none, average, factor };

}  // namespace railshmem

#endif
