// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/peer_buffers.h"

#include <algorithm>

#include "src/base/error.h"

namespace railshmem {

PeerBuffers::PeerBuffers(DeviceMemory& memory, Bootstrap& bootstrap, const NodeLayout& layout)
    : memory_(memory), layout_(layout) {
  // Each process reserves addresses for the node's heaps where it likes.
  const auto bases = exchange(bootstrap, reinterpret_cast<uint64_t>(memory.arena().base()));
  const auto my_slot = static_cast<size_t>(layout.my_slot);
  for (size_t slot = 0; slot < layout.members.size(); ++slot) {
    const uint64_t base = bases[static_cast<size_t>(layout.members[slot])];
    const bool mapped = slot == my_slot || memory.reaches_node();
    heap_at_slot_.push_back(mapped ? base + my_slot * memory.arena().stride() : 0);
  }
}

size_t PeerBuffers::slot_of(int pe) const {
  const auto found = std::lower_bound(layout_.members.begin(), layout_.members.end(), pe);
  if (found == layout_.members.end() || *found != pe)
    throw Error(text("PE %d is on another node, which cannot map memory of this one", pe));
  return static_cast<size_t>(found - layout_.members.begin());
}

bool PeerBuffers::find_in_heap(std::span<const int> pes, const void* address, size_t nbytes, PeerView& view) const {
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(address) - memory_.base());
  if (offset >= memory_.nbytes() || nbytes > memory_.nbytes() - offset) return false;
  for (size_t i = 0; i < pes.size(); ++i) {
    const uint64_t base = heap_at_slot_[slot_of(pes[i])];
    if (base == 0) return false;
    view.at_peer[i] = base + offset;
  }
  view.where = PeerView::Where::heap;
  return true;
}

PeerView PeerBuffers::find(std::span<const int> pes, const void* address, size_t nbytes) {
  PeerView view;
  if (pes.size() > PeerView::kMost || find_in_heap(pes, address, nbytes, view)) return view;
  return view;
}

}  // namespace railshmem
