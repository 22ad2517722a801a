// SPDX-License-Identifier: BSD-3-Clause
// Products of cuBLASLt: an algorithm for each shape, chosen once.
#pragma once

#include <map>

#include "overlap/lt_product.h"
#include "overlap/lt_search.h"
#include "overlap/lt_store.h"

namespace railshmem::overlap {

class LtProducts {
 public:
  enum class Choice : unsigned char { heuristic, search };
  /// room: for products, one at a time. choice: cuBLASLt's heuristic chooses algorithms, or they are measured and kept
  /// in the user's file.
  LtProducts(const Room& room, Choice choice) : room_(room), choice_(choice) {}
  ~LtProducts();
  LtProducts(const LtProducts&) = delete;

  /// Chooses the algorithm of a product, which give() then only looks up. It measures nothing where a graph captures
  /// the stream. Throws Error where cuBLASLt has none.
  void prepare(const Gemm& gemm, size_t nrows, const void* a, const void* c, const void* addend,
               shmemx_stream_t stream);
  /// Appends the product of nrows rows, from `a` on, to the stream. addend: null, or results that lie as c does, which
  /// are added in place of beta * c. Throws Error.
  void give(const Gemm& gemm, size_t nrows, const void* a, void* c, const void* addend, shmemx_stream_t stream);

 private:
  struct Chosen {
    LtProduct product;
    lt::Algorithm algorithm;
  };
  const Chosen& chosen(const ProductKey& key, shmemx_stream_t stream);
  lt::Algorithm search(const LtProduct& product, shmemx_stream_t stream);

  const Room room_;
  const Choice choice_;
  LtStore store_{store_folder()};
  LtSearch search_;
  lt::Handle handle_ = nullptr;  ///< made at the first product
  std::map<ProductKey, Chosen> products_;
};

}  // namespace railshmem::overlap
