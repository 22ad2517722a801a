// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/user_buffers.h"

#include <iterator>

#include "src/base/error.h"
#include "src/plugin/device_access.h"

namespace railshmem {

void UserBuffers::check_new(const std::byte* begin, size_t nbytes) const {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  if (!begin) throw Error("the address is NULL");
  if (nbytes == 0) throw Error(text("the buffer at %p has no bytes", static_cast<const void*>(begin)));
  if (nbytes > ~uintptr_t{0} - first)
    throw Error(text("%zu bytes at %p reach beyond the end of memory", nbytes, static_cast<const void*>(begin)));
  for (const SegmentView& segment : state_.segment) {
    if (first < segment.base + segment.nbytes && segment.base < first + nbytes)
      throw Error(text("%zu bytes at %p overlap with symmetric memory, which is registered already", nbytes,
                       static_cast<const void*>(begin)));
  }
  const auto behind = buffers_.lower_bound(begin + nbytes);
  if (behind == buffers_.begin()) return;
  const std::byte* const other = std::prev(behind)->first;
  const size_t other_nbytes = std::prev(behind)->second.nbytes;
  if (other + other_nbytes > begin)
    throw Error(
        text("%zu bytes at %p overlap with the %zu bytes at %p that are registered already; unregister those "
             "first",
             nbytes, static_cast<const void*>(begin), other_nbytes, static_cast<const void*>(other)));
}

void UserBuffers::add(const void* address, size_t nbytes) {
  const auto* begin = static_cast<const std::byte*>(address);
  const std::lock_guard lock(mutex_);
  check_new(begin, nbytes);
  const bool by_network = state_.network && !(state_.device && state_.device->is_device(begin));
  const auto place = buffers_.emplace(begin, Buffer{nbytes, by_network}).first;
  try {
    if (by_network) state_.network->register_buffer({begin, nbytes});
  } catch (...) {
    buffers_.erase(place);
    throw;
  }
}

void UserBuffers::remove(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(static_cast<const std::byte*>(address));
  if (found == buffers_.end()) throw Error(text("no registered buffer begins at %p", address));
  if (found->second.by_network) state_.network->unregister_buffer(found->first);
  buffers_.erase(found);
}

void UserBuffers::remove_all() {
  const std::lock_guard lock(mutex_);
  while (!buffers_.empty()) {
    if (buffers_.begin()->second.by_network) state_.network->unregister_buffer(buffers_.begin()->first);
    buffers_.erase(buffers_.begin());
  }
}

size_t UserBuffers::count() const {
  const std::lock_guard lock(mutex_);
  return buffers_.size();
}

}  // namespace railshmem
