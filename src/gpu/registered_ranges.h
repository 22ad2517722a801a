// SPDX-License-Identifier: BSD-3-Clause
// The ranges of addresses that the program has registered for collectives.
#pragma once

#include <cstddef>
#include <map>

#include "src/gpu/shared_allocations.h"

namespace railshmem {

/// Ranges do not overlap. One thread at a time.
class RegisteredRanges {
 public:
  struct Range {
    const std::byte* begin;
    size_t nbytes;
    Shared allocation;
  };

  /// Throws Error where the range overlaps with another one.
  void require_free(const void* address, size_t nbytes) const;
  /// The range is free.
  void add(const void* address, size_t nbytes, Shared allocation);
  /// The range that holds all of [address, address + nbytes); null where none does.
  const Range* find(const void* address, size_t nbytes) const noexcept;
  /// The range that begins at `address`. Throws Error where none does.
  const Range& at(const void* address) const;
  /// Takes the range that begins at `address` out of the books. Throws Error where none does.
  Range remove(const void* address);
  size_t count() const noexcept { return ranges_.size(); }

 private:
  const Range* last_before(const std::byte* end) const noexcept;

  std::map<const std::byte*, Range> ranges_;  ///< by first byte
};

}  // namespace railshmem
