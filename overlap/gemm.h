// SPDX-License-Identifier: BSD-3-Clause
// A call as the program described it, checked.
#pragma once

#include <shmemx_overlap.h>

#include <cstddef>

#include "overlap/kernels/sum.h"
#include "overlap/planner.h"

namespace railshmem::overlap {

struct Gemm {
  Way way;
  shmemx_gemm_t asked;
  size_t rows;            ///< of a member
  size_t lda, ldb, ldc;   ///< never 0
  size_t element;         ///< bytes of an element of a and b
  size_t result_element;  ///< of c
  Element summed;         ///< type of c
  int b_type;             ///< of b

  const std::byte* row_of_a(const void* a, size_t row) const noexcept {
    return static_cast<const std::byte*>(a) + row * (asked.transposed_a != 0 ? 1 : lda) * element;
  }
};

inline bool is_float8(int type) noexcept {
  return type == SHMEMX_DATATYPE_FLOAT8_E4M3 || type == SHMEMX_DATATYPE_FLOAT8_E5M2;
}

/// What the program passed, which was perhaps built with an older header, where the struct was shorter. Throws Error.
shmemx_gemm_t complete(const shmemx_gemm_t* asked);

/// Throws Error that names the field, its value and the remedy. `n`: members of the team.
Gemm checked(Way way, const shmemx_gemm_t* asked, int n);

}  // namespace railshmem::overlap
