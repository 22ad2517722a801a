// SPDX-License-Identifier: BSD-3-Clause
// The shape of a product: all that cuBLASLt looks at where it chooses an algorithm.
#pragma once

#include <compare>
#include <cstddef>
#include <string>

#include "overlap/gemm.h"

namespace railshmem::overlap {

struct ProductKey {
  size_t rows, n, k;
  size_t lda, ldb, ldc;
  int type, b_type, result_type, compute;
  int transposed_a, transposed_b, activation;
  bool bias, adds;          ///< adds: beta is not 0
  bool a_scaled, b_scaled;  ///< 8-bit floats with a factor
  unsigned align_a, align_b, align_c,
      align_bias;  ///< bytes: powers of two, kMostAlignment at most; c: and what is added

  auto operator<=>(const ProductKey&) const = default;
};

inline constexpr unsigned kMostAlignment = 256;  ///< bytes; what cuBLASLt takes for granted otherwise
unsigned alignment_of(const void* address) noexcept;

/// Of nrows rows of a call, with operands there. addend: null, or what is added instead of beta * c.
ProductKey key_of(const Gemm& gemm, size_t nrows, const void* a, const void* c, const void* addend) noexcept;
/// For messages.
std::string text_of(const ProductKey& key);

}  // namespace railshmem::overlap
