// SPDX-License-Identifier: BSD-3-Clause
// Which of several algorithms is the fastest for a product, measured.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "overlap/driver.h"
#include "overlap/lt_product.h"

namespace railshmem::overlap {

/// A stream of its own, and memory of its own while it measures: what the program's streams do is not disturbed, and
/// not waited for.
class LtSearch {
 public:
  LtSearch() = default;
  ~LtSearch();
  LtSearch(const LtSearch&) = delete;

  /// The fastest candidate's number; nothing where there is no memory, or where the GPU does not come to it in time: a
  /// warning says so. The first candidate stays unless another one is clearly faster.
  std::optional<size_t> fastest(lt::Handle handle, const LtProduct& product, std::span<const lt::Algorithm> candidates,
                                size_t room_nbytes);

 private:
  Stream stream_ = nullptr;  ///< made at the first search
  bool stuck_ = false;       ///< the GPU did not come to the work of this stream
};

/// The GPU that is current and its driver, in words.
std::string gpu_name();

}  // namespace railshmem::overlap
