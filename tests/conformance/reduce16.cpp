// SPDX-License-Identifier: BSD-3-Clause
// Reductions of 16-bit floating-point numbers, given as their bits; sums of small whole numbers are exact.
#include <shmemx.h>

#include <algorithm>

#include "check.h"

namespace {

constexpr size_t kMost = 3000;
int me, npes;

int operand(int pe, size_t i) {
  return static_cast<int>(i % 5) + pe % 3 - 2;
}
/// The bits of a whole number from -63 to 63.
uint16_t bits_of(int value, int fraction_bits, int bias) {
  if (value == 0) return 0;
  const unsigned magnitude = static_cast<unsigned>(value < 0 ? -value : value);
  const int exponent = 31 - __builtin_clz(magnitude);
  const unsigned fraction = (magnitude << (fraction_bits - exponent)) & ((1u << fraction_bits) - 1);
  return static_cast<uint16_t>((value < 0 ? 0x8000u : 0u) | static_cast<unsigned>(exponent + bias) << fraction_bits |
                               fraction);
}

using Reduce = int (*)(shmem_team_t, uint16_t*, const uint16_t*, size_t);
enum class Op { max, min, sum };

int expected(Op op, size_t i) {
  int all = operand(0, i);
  for (int pe = 1; pe < npes; ++pe) {
    const int next = operand(pe, i);
    all = op == Op::max ? std::max(all, next) : op == Op::min ? std::min(all, next) : all + next;
  }
  return all;
}

void test(const char* name, Op op, Reduce reduce, Reduce deal, int fraction_bits, int bias) {
  check_step("%s", name);
  const auto all = static_cast<size_t>(npes);
  auto* const source = static_cast<uint16_t*>(shmem_malloc(kMost * all * sizeof(uint16_t)));
  auto* const dest = static_cast<uint16_t*>(shmem_malloc(kMost * sizeof(uint16_t)));
  for (size_t i = 0; i < kMost * all; ++i) source[i] = bits_of(operand(me, i), fraction_bits, bias);
  for (const size_t n : {size_t{1}, size_t{33}, kMost}) {
    CHECK_EQ(reduce(SHMEM_TEAM_WORLD, dest, source, n), 0);
    for (size_t i = 0; i < n; ++i) CHECK_EQ(dest[i], bits_of(expected(op, i), fraction_bits, bias));
    shmem_barrier_all();
    CHECK_EQ(deal(SHMEM_TEAM_WORLD, dest, source, n), 0);
    for (size_t i = 0; i < n; ++i)
      CHECK_EQ(dest[i], bits_of(expected(op, static_cast<size_t>(me) * n + i), fraction_bits, bias));
    shmem_barrier_all();
  }
  shmem_free(dest);
  shmem_free(source);
}

}  // namespace

int main() {
  check_begin("reduce16");
  me = shmem_my_pe();
  npes = shmem_n_pes();
#define TEST16(N, FRACTION, BIAS)                                                                    \
  test(#N " max", Op::max, shmemx_##N##_max_reduce, shmemx_##N##_max_reducescatter, FRACTION, BIAS); \
  test(#N " min", Op::min, shmemx_##N##_min_reduce, shmemx_##N##_min_reducescatter, FRACTION, BIAS); \
  test(#N " sum", Op::sum, shmemx_##N##_sum_reduce, shmemx_##N##_sum_reducescatter, FRACTION, BIAS)
  TEST16(half, 10, 15);
  TEST16(bfloat16, 7, 127);
  check_step("products");
  auto* const one = static_cast<uint16_t*>(shmem_malloc(2 * sizeof(uint16_t)));
  one[0] = 0xc000;  // -2 in both
  CHECK_EQ(shmemx_half_prod_reduce(SHMEM_TEAM_WORLD, one + 1, one, 1), 0);
  CHECK_EQ(one[1], (npes % 2 != 0 ? 0x8000 : 0) | (15 + npes) << 10);
  shmem_barrier_all();
  CHECK_EQ(shmemx_bfloat16_prod_reduce(SHMEM_TEAM_WORLD, one + 1, one, 1), 0);
  CHECK_EQ(one[1], (npes % 2 != 0 ? 0x8000 : 0) | (127 + npes) << 7);
  shmem_free(one);
  return check_end();
}
