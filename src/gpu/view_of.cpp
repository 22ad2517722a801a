// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/view_of.h"

#include "include/shmem/detail/segment.h"

namespace railshmem {
namespace {

unsigned char* bytes(const std::byte* at) {
  return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(at));
}

}  // namespace

WorldView view_of(const DeviceMemory& memory, const NodeLayout& layout, const ViewConfig& config) {
  WorldView view;
  view.pe = config.pe;
  view.npes = config.npes;
  // A peer's address is arithmetic from the node's first PE on, so nodes whose PEs have gaps use the network.
  const bool by_arithmetic = memory.reaches_node() && layout.consecutive();
  view.first_pe = by_arithmetic ? layout.members.front() : config.pe;
  view.node_npes = by_arithmetic ? static_cast<int32_t>(layout.members.size()) : 1;
  view.heap.mine = bytes(memory.base());
  view.heap.nbytes = memory.nbytes();
  view.heap.on_node = by_arithmetic ? bytes(memory.arena().base()) : view.heap.mine;
  view.heap.stride = by_arithmetic ? memory.arena().stride() : 0;
  // Where remote PEs may update words as well, the owner's proxy is the only one who does, but for declared memory.
  view.heap.atomics_offset = config.has_network ? memory.declared_offset() : 0;
  view.heap.atomics_nbytes = memory.nbytes() - view.heap.atomics_offset;
  view.heap.segment = static_cast<uint64_t>(SegmentId::device);
  view.other.mine = bytes(config.host_heap);
  view.other.nbytes = config.host_heap_nbytes;
  view.other.segment = static_cast<uint64_t>(SegmentId::heap);
  view.check = config.check ? 1 : 0;
  view.timeout_ns = config.timeout_ns;
  return view;
}

}  // namespace railshmem
