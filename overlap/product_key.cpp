// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/product_key.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "src/base/error.h"

namespace railshmem::overlap {

unsigned alignment_of(const void* address) noexcept {
  const auto bits = reinterpret_cast<uintptr_t>(address) | kMostAlignment;
  return 1u << std::countr_zero(bits);
}

ProductKey key_of(const Gemm& gemm, size_t nrows, const void* a, const void* c, const void* addend) noexcept {
  const shmemx_gemm_t& asked = gemm.asked;
  return {nrows,
          asked.n,
          asked.k,
          gemm.lda,
          gemm.ldb,
          gemm.ldc,
          asked.type,
          gemm.b_type,
          asked.result_type,
          asked.compute,
          asked.transposed_a,
          asked.transposed_b,
          asked.activation,
          asked.bias != nullptr,
          addend != nullptr || asked.beta != 0,
          asked.a_scale != nullptr,
          asked.b_scale != nullptr,
          alignment_of(a),
          alignment_of(asked.b),
          std::min(alignment_of(c), alignment_of(addend)),
          alignment_of(asked.bias)};
}

std::string text_of(const ProductKey& key) {
  return text(
      "product of %zu x %zu by %zu x %zu with leading dimensions %zu, %zu, %zu, types %d, %d and %d, compute %d, "
      "transposed %d and %d, activation %d, bias %d, beta %d, scales %d and %d, aligned to %u, %u, %u and %u bytes",
      key.rows, key.k, key.k, key.n, key.lda, key.ldb, key.ldc, key.type, key.b_type, key.result_type, key.compute,
      key.transposed_a, key.transposed_b, key.activation, key.bias ? 1 : 0, key.adds ? 1 : 0, key.a_scaled ? 1 : 0,
      key.b_scaled ? 1 : 0, key.align_a, key.align_b, key.align_c, key.align_bias);
}

}  // namespace railshmem::overlap
