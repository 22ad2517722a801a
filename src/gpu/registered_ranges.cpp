// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/registered_ranges.h"

#include <iterator>
#include <utility>

#include "src/base/error.h"

namespace railshmem {

const RegisteredRanges::Range* RegisteredRanges::last_before(const std::byte* end) const noexcept {
  const auto behind = ranges_.lower_bound(end);
  return behind == ranges_.begin() ? nullptr : &std::prev(behind)->second;
}

void RegisteredRanges::require_free(const void* address, size_t nbytes) const {
  const auto* const begin = static_cast<const std::byte*>(address);
  const Range* const other = last_before(begin + nbytes);
  if (other == nullptr || other->begin + other->nbytes <= begin) return;
  throw Error(
      text("%zu bytes at %p overlap with the %zu bytes at %p that are registered already; call "
           "shmemx_coll_deregister for those first",
           nbytes, address, other->nbytes, static_cast<const void*>(other->begin)));
}

void RegisteredRanges::add(const void* address, size_t nbytes, Shared allocation) {
  const auto* const begin = static_cast<const std::byte*>(address);
  ranges_.emplace(begin, Range{begin, nbytes, std::move(allocation)});
}

const RegisteredRanges::Range* RegisteredRanges::find(const void* address, size_t nbytes) const noexcept {
  const auto* const begin = static_cast<const std::byte*>(address);
  const Range* const range = last_before(begin + 1);
  if (range == nullptr) return nullptr;
  const auto offset = static_cast<size_t>(begin - range->begin);
  return offset < range->nbytes && nbytes <= range->nbytes - offset ? range : nullptr;
}

const RegisteredRanges::Range& RegisteredRanges::at(const void* address) const {
  const auto* const begin = static_cast<const std::byte*>(address);
  const auto found = ranges_.find(begin);
  if (found != ranges_.end()) return found->second;
  const Range* const other = last_before(begin + 1);
  if (other != nullptr && begin < other->begin + other->nbytes)
    throw Error(text("%p is in a registered buffer that begins at %p; pass that address", address,
                     static_cast<const void*>(other->begin)));
  throw Error(
      text("no registered buffer begins at %p: it was not given to shmemx_coll_register, or is deregistered "
           "already",
           address));
}

RegisteredRanges::Range RegisteredRanges::remove(const void* address) {
  Range range = at(address);
  ranges_.erase(range.begin);
  return range;
}

}  // namespace railshmem
