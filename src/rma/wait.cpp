// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/wait.h"

#include "shmem/types.h"
#include "src/base/log.h"

namespace railshmem {

static_assert(kEq == SHMEM_CMP_EQ && kNe == SHMEM_CMP_NE && kGt == SHMEM_CMP_GT && kGe == SHMEM_CMP_GE &&
              kLt == SHMEM_CMP_LT && kLe == SHMEM_CMP_LE);

void die_bad_comparison(const char* function, int cmp) noexcept {
  die("%s: comparison %d is none of SHMEM_CMP_EQ, NE, GT, GE, LT, LE (%d to %d)", function, cmp, SHMEM_CMP_EQ,
      SHMEM_CMP_LE);
}

void die_null_variable(const char* function) noexcept {
  die("%s: the variable to wait on is NULL; pass the address of a symmetric object of this PE", function);
}

size_t next_start(size_t n) noexcept {
  thread_local size_t turn = 0;
  return n ? turn++ % n : 0;
}

}  // namespace railshmem
