// SPDX-License-Identifier: BSD-3-Clause
// Algorithms that were chosen before, in a file of the user's. Processes share it: of several choices for one product
// the first one stays, so that all who read the file choose alike.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "overlap/lt_library.h"

namespace railshmem::overlap {

class LtStore {
 public:
  /// folder: is made where it is missing; empty: nothing is kept.
  explicit LtStore(std::string folder) : folder_(std::move(folder)) {}

  /// What was kept for the product.
  std::optional<lt::Algorithm> find(std::string_view product) const;
  /// Keeps an algorithm for the product, unless another one was kept before. Returns the one that stays. `instead_of`:
  /// one that was kept, but does not fit. Where the file cannot be written, a warning says so, once, and `algorithm`
  /// stays in this process only.
  lt::Algorithm keep(std::string_view product, const lt::Algorithm& algorithm,
                     const std::optional<lt::Algorithm>& instead_of);

 private:
  using Kept = std::map<std::string, lt::Algorithm, std::less<>>;
  std::string path() const { return folder_ + "/overlap_algorithms.txt"; }
  /// Lines that are damaged are left out.
  struct Content {
    Kept kept;
    size_t damaged = 0, first = 0;  ///< their count, the number of the first one
  };
  Content read() const;
  void write(const Kept& kept) const;

  const std::string folder_;
  bool unwritable_ = false;
};

/// Where the file is: $XDG_CACHE_HOME/railshmem, else ~/.cache/railshmem, as HOME has it; else empty.
std::string store_folder();

}  // namespace railshmem::overlap
