// SPDX-License-Identifier: BSD-3-Clause
// A team in a collective of kernels: who takes part, and where their control memory is.
#ifndef SHMEM_DEVICE_MEMBERS_H
#define SHMEM_DEVICE_MEMBERS_H

#include <stdint.h>

#include "shmem/detail/device_control.h"
#include "shmem/detail/world.h"

namespace railshmem {
namespace device {

///
/// Never give the address of a Members to a function out of line: the whole object would live in memory from then on,
/// and every acquire empties the cache that this memory would be in. Such a function takes the row, by value, and makes
/// its own Members.
class Members {
 public:
  RAILSHMEM_HD Members(const WorldView& world, const TeamRow& team)
      : world_(world), team_(team), layout_(world.npes, 1) {
    near_ = size() > 0 && mapped(pe(0)) && mapped(pe(size() - 1));  // a node's PEs are consecutive
  }

  RAILSHMEM_HD const TeamRow& row() const { return team_; }
  RAILSHMEM_HD int size() const { return team_.size; }
  RAILSHMEM_HD int rank() const { return team_.rank; }
  RAILSHMEM_HD int pe(int rank) const { return world_pe(team_, rank); }
  /// The rank `steps` behind another one, round the team; steps < size. No division.
  RAILSHMEM_HD int after(uint32_t rank, uint32_t steps) const {
    const uint32_t sum = rank + steps, n = static_cast<uint32_t>(size());
    return static_cast<int>(sum < n ? sum : sum - n);
  }
  RAILSHMEM_HD uint32_t slot() const { return team_.slot; }
  /// Whether all members load and store each other's memory.
  RAILSHMEM_HD bool near() const { return near_; }
  RAILSHMEM_HD bool few() const { return size() <= DeviceControlLayout::kFewPes; }
  /// Whether packets can be exchanged.
  RAILSHMEM_HD bool packets() const { return near_ && world_.npes <= DeviceControlLayout::kFewPes; }
  RAILSHMEM_HD bool mapped(int pe) const {
    return static_cast<uint32_t>(pe - world_.first_pe) < static_cast<uint32_t>(world_.node_npes) &&
           world_.heap.on_node != nullptr;
  }
  RAILSHMEM_HD const DeviceControlLayout& layout() const { return layout_; }

  /// This PE's copy of what is at an offset of the layout.
  template <class T>
  RAILSHMEM_HD T* mine(uint64_t offset) const {
    return reinterpret_cast<T*>(world_.heap.mine + world_.control + offset);
  }
  /// The copy of a mapped member of what is at an offset of the layout.
  template <class T>
  RAILSHMEM_HD T* theirs(int rank, uint64_t offset) const {
    const auto index = static_cast<uint32_t>(pe(rank) - world_.first_pe);
    return reinterpret_cast<T*>(world_.heap.on_node + index * world_.heap.stride + world_.control + offset);
  }
  /// What is at an offset of the layout, as a place for a command.
  RAILSHMEM_HD HeapPlace far(uint64_t offset) const { return {nullptr, world_.control + offset, &world_.heap}; }
  RAILSHMEM_HD TeamCounters* counters() const { return mine<TeamCounters>(layout_.counters(slot())); }

 private:
  const WorldView& world_;
  const TeamRow team_;
  const DeviceControlLayout layout_;  // offsets do not depend on the number of teams
  bool near_;
};

/// Whether the control memory has an area for a team. Slot 0, the world's, is there whenever there is control memory.
RAILSHMEM_HD inline bool has_area(const WorldView& world, uint32_t slot) {
  return slot == 0 ? world.control_nbytes != 0
                   : DeviceControlLayout(world.npes, 1).counters(slot + 1) <= world.control_nbytes;
}

/// One array in the memory of every member, all of them mapped. Holds all that it needs and no more: long loops use it,
/// and functions out of line get it in registers.
template <class T>
class MappedArrays {
 public:
  RAILSHMEM_HD MappedArrays(const WorldView& world, const TeamRow& team, const HeapPlace& of_first)
      : of_pe0_(of_first.heap->on_node + of_first.offset -
                static_cast<uint64_t>(world.first_pe) * of_first.heap->stride),
        stride_(of_first.heap->stride),
        table_(team.table),
        start_(team.start),
        step_(team.stride),
        size_(team.size),
        rank_(team.rank) {}
  RAILSHMEM_HD int size() const { return size_; }
  RAILSHMEM_HD int rank() const { return rank_; }
  RAILSHMEM_HD T* of(int rank) const {
    const int index = start_ + rank * step_;
    const int pe = table_ != nullptr ? table_[index] : index;
    return reinterpret_cast<T*>(of_pe0_ + static_cast<uint64_t>(pe) * stride_);
  }

 private:
  unsigned char* of_pe0_;
  uint64_t stride_;
  const int32_t* table_;
  int32_t start_, step_, size_, rank_;
};

}  // namespace device
}  // namespace railshmem

#endif
