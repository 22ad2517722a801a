// SPDX-License-Identifier: BSD-3-Clause
// Products of cuBLASLt: an algorithm for each shape, chosen once.
#pragma once

#include <array>
#include <map>

#include "overlap/lt_product.h"
#include "overlap/lt_search.h"
#include "overlap/lt_store.h"

namespace railshmem::overlap {

class LtProducts {
 public:
  enum class Choice : unsigned char { heuristic, search };
  /// Products of one call go to two streams at most, and each has a room.
  static constexpr size_t kStreams = 2;
  using Rooms = std::array<Room, kStreams>;
  /// rooms: of one size. choice: cuBLASLt's heuristic chooses algorithms, or they are measured and kept
  /// in the user's file.
  LtProducts(const Rooms& rooms, Choice choice) : rooms_(rooms), choice_(choice) {}
  ~LtProducts();
  LtProducts(const LtProducts&) = delete;

  /// Chooses the algorithm of a product, which give() then only looks up. It measures nothing where a graph captures
  /// the stream. Throws Error where cuBLASLt has none.
  void prepare(const Gemm& gemm, size_t nrows, const void* a, const void* c, const void* addend,
               shmemx_stream_t stream);
  /// Appends the product of nrows rows, from `a` on, to the stream. addend: null, or results that lie as c does, which
  /// are added in place of beta * c. which: the room, which no other stream uses meanwhile. Throws Error.
  void give(const Gemm& gemm, size_t nrows, const void* a, void* c, const void* addend, shmemx_stream_t stream,
            size_t which);

 private:
  struct Chosen {
    LtProduct product;
    lt::Algorithm algorithm;
  };
  const Chosen& chosen(const ProductKey& key, shmemx_stream_t stream);
  lt::Algorithm search(const LtProduct& product, shmemx_stream_t stream);

  size_t room_nbytes() const noexcept { return rooms_[0].nbytes; }

  const Rooms rooms_;
  const Choice choice_;
  LtStore store_{store_folder()};
  LtSearch search_;
  lt::Handle handle_ = nullptr;  ///< made at the first product
  std::map<ProductKey, Chosen> products_;
};

}  // namespace railshmem::overlap
