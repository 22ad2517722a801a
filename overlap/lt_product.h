// SPDX-License-Identifier: BSD-3-Clause
// A product as cuBLASLt describes it: layouts, operation, and the algorithms that it knows for them.
#pragma once

#include <memory>
#include <vector>

#include "overlap/lt_library.h"
#include "overlap/product_key.h"

namespace railshmem::overlap {

/// Where the operands of a product are, and its factors.
struct Operands {
  const void *a, *b;
  const void* added;  ///< beta times this is added: c, or results that lie as c does
  void* c;
  const void* bias;
  const float *a_scale, *b_scale;
  float alpha, beta;
};

/// GPU memory that a product may use while it runs.
struct Room {
  void* at;
  size_t nbytes;
};

/// cuBLASLt goes column by column, so it multiplies the transposes: c' = b' a'.
class LtProduct {
 public:
  explicit LtProduct(const ProductKey& key);

  const ProductKey& key() const noexcept { return key_; }
  /// What cuBLASLt's heuristic proposes, the best first: one or more, `most` at most. Throws Error if none exists.
  std::vector<lt::Algorithm> candidates(lt::Handle handle, size_t room_nbytes, size_t most) const;
  /// Whether an algorithm that was found elsewhere can compute the product here.
  bool fits(lt::Handle handle, const lt::Algorithm& algorithm, size_t room_nbytes) const;
  /// Appends the product to the stream.
  lt::Status give(lt::Handle handle, const lt::Algorithm& algorithm, const Operands& operands, const Room& room,
                  shmemx_stream_t stream) const;

 private:
  struct CloseOperation {
    void operator()(lt::Operation operation) const { lt::library().operation_destroy(operation); }
  };
  struct CloseLayout {
    void operator()(lt::Layout layout) const { lt::library().layout_destroy(layout); }
  };
  using Layout = std::unique_ptr<lt::LtLayout, CloseLayout>;
  static Layout stored(int type, size_t rows, size_t columns, size_t leading, int transposed);
  template <class T>
  void set(lt::OperationField field, const T& value) const;
  void describe();
  /// Null if none exists.
  void set_scales(const float* a_scale, const float* b_scale) const;

  ProductKey key_;
  Layout a_, b_, c_;
  std::unique_ptr<lt::LtOperation, CloseOperation> operation_;
};

}  // namespace railshmem::overlap
