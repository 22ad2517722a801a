// SPDX-License-Identifier: BSD-3-Clause
// Products of cuBLASLt: an algorithm for each shape, found once.
#pragma once

#include <map>

#include "overlap/lt_product.h"

namespace railshmem::overlap {

class LtProducts {
 public:
  /// room: for products, one at a time.
  LtProducts(const Room& room) : room_(room) {}  // NOLINT(google-explicit-constructor): where a handle is made
  ~LtProducts();
  LtProducts(const LtProducts&) = delete;

  /// Finds the algorithm of a product, which give() then only looks up. Throws Error where cuBLASLt has none.
  void prepare(const Gemm& gemm, size_t nrows, const void* a, const void* c);
  /// Appends the product of nrows rows, from `a` on, to the stream. Throws Error.
  void give(const Gemm& gemm, size_t nrows, const void* a, void* c, shmemx_stream_t stream);

 private:
  struct Chosen {
    LtProduct product;
    lt::Algorithm algorithm;
  };
  const Chosen& chosen(const ProductKey& key);

  const Room room_;
  lt::Handle handle_ = nullptr;  ///< made at the first product
  std::map<ProductKey, Chosen> products_;
};

}  // namespace railshmem::overlap
