// SPDX-License-Identifier: BSD-3-Clause
// A team in a collective of kernels: who takes part, and where their control memory is.
#ifndef SHMEM_DEVICE_MEMBERS_H
#define SHMEM_DEVICE_MEMBERS_H

#include <stdint.h>

#include "shmem/detail/device_control.h"
#include "shmem/detail/world.h"

namespace railshmem {
namespace device {

class Members {
 public:
  RAILSHMEM_HD Members(const WorldView& world, const TeamRow& team)
      : world_(world), team_(team), layout_(world.npes, 1) {
    near_ = size() > 0 && mapped(pe(0)) && mapped(pe(size() - 1));  // a node's PEs are consecutive
  }

  RAILSHMEM_HD int size() const { return team_.size; }
  RAILSHMEM_HD int rank() const { return team_.rank; }
  RAILSHMEM_HD int pe(int rank) const { return world_pe(team_, rank); }
  RAILSHMEM_HD uint32_t slot() const { return team_.slot; }
  /// All members load and store each other's memory.
  RAILSHMEM_HD bool near() const { return near_; }
  RAILSHMEM_HD bool few() const { return size() <= DeviceControlLayout::kFewPes; }
  /// Packets can be exchanged.
  RAILSHMEM_HD bool packets() const { return near_ && world_.npes <= DeviceControlLayout::kFewPes; }
  RAILSHMEM_HD bool mapped(int pe) const {
    return static_cast<uint32_t>(pe - world_.first_pe) < static_cast<uint32_t>(world_.node_npes) &&
           world_.heap.on_node != nullptr;
  }
  RAILSHMEM_HD const DeviceControlLayout& layout() const { return layout_; }

  /// This PE's copy of what lies at an offset of the layout.
  template <class T>
  RAILSHMEM_HD T* mine(uint64_t offset) const {
    return reinterpret_cast<T*>(world_.heap.mine + world_.control + offset);
  }
  /// That of a member which is mapped.
  template <class T>
  RAILSHMEM_HD T* theirs(int rank, uint64_t offset) const {
    const auto index = static_cast<uint32_t>(pe(rank) - world_.first_pe);
    return reinterpret_cast<T*>(world_.heap.on_node + index * world_.heap.stride + world_.control + offset);
  }
  /// As a place for a command.
  RAILSHMEM_HD HeapPlace far(uint64_t offset) const { return {nullptr, world_.control + offset, &world_.heap}; }
  RAILSHMEM_HD TeamCounters* counters() const { return mine<TeamCounters>(layout_.counters(slot())); }

 private:
  const WorldView& world_;
  const TeamRow& team_;
  const DeviceControlLayout layout_;  // offsets do not depend on the number of teams
  bool near_;
};

/// An array of every member, all of them mapped.
template <class T>
class MappedArrays {
 public:
  RAILSHMEM_HD MappedArrays(const WorldView& world, const Members& team, const HeapPlace& of_first)
      : world_(world), team_(team), heap_(*of_first.heap), offset_(of_first.offset) {}
  RAILSHMEM_HD T* of(int rank) const {
    const auto index = static_cast<uint32_t>(team_.pe(rank) - world_.first_pe);
    return reinterpret_cast<T*>(heap_.on_node + index * heap_.stride + offset_);
  }

 private:
  const WorldView& world_;
  const Members& team_;
  const HeapView& heap_;
  const uint64_t offset_;
};

}  // namespace device
}  // namespace railshmem

#endif
