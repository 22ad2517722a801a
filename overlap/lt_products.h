// SPDX-License-Identifier: BSD-3-Clause
// Products of cuBLASLt: an algorithm for each shape, found once.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "overlap/gemm.h"
#include "overlap/lt_library.h"

namespace railshmem::overlap {

class LtProducts {
 public:
  /// workspace: nbytes of GPU memory for products, one at a time.
  LtProducts(void* workspace, size_t nbytes);
  ~LtProducts();
  LtProducts(const LtProducts&) = delete;

  /// Finds the algorithm of a product, which give() then only looks up. Throws Error where cuBLASLt has none.
  void prepare(const Gemm& gemm, size_t nrows, const void* a, const void* c);
  /// Appends the product of nrows rows, from `a` on, to the stream. Throws Error.
  void give(const Gemm& gemm, size_t nrows, const void* a, void* c, shmemx_stream_t stream);

 private:
  struct Product;
  /// What the choice of an algorithm depends on. alignments: of a, b, c and bias, as powers of two.
  using Key =
      std::tuple<size_t, size_t, size_t, size_t, size_t, size_t, int, int, int, int, int, int, int, bool, uint64_t>;
  Product& product_of(const Gemm& gemm, size_t nrows, const void* a, const void* c);

  void* const workspace_;
  const size_t nbytes_;
  lt::Handle handle_ = nullptr;  ///< made at the first product
  std::map<Key, std::unique_ptr<Product>> products_;
};

}  // namespace railshmem::overlap
