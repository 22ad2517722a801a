// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/wait.h"

#include <sched.h>

#include "shmem/types.h"
#include "src/base/log.h"

namespace railshmem {

static_assert(kEq == SHMEM_CMP_EQ && kNe == SHMEM_CMP_NE && kGt == SHMEM_CMP_GT && kGe == SHMEM_CMP_GE &&
              kLt == SHMEM_CMP_LT && kLe == SHMEM_CMP_LE);

void die_bad_comparison(const char* function, int cmp) noexcept {
  die("%s: comparison %d is not one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE (%d to %d)", function, cmp, SHMEM_CMP_EQ,
      SHMEM_CMP_LE);
}

void yield_now_and_then() noexcept {
  thread_local uint32_t t_turn = 0;
  if (++t_turn % kTestsPerYield == 0) sched_yield();
}

void die_null_variable(const char* function) noexcept {
  die("%s: the variable to wait on is NULL; pass the address of a symmetric object of this PE", function);
}

size_t next_start(size_t n) noexcept {
  // A scrambled counter (SplitMix64), not a plain one: a program that makes k any calls per round would see a plain one
  // step by k, and never the indices in between when k and n have a common factor.
  thread_local uint64_t t_turn = 0;
  uint64_t z = t_turn += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return n ? static_cast<size_t>(z % n) : 0;
}

}  // namespace railshmem
