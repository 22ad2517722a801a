// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/world_sync.h"

#include "src/base/cpu.h"
#include "src/rma/waiter.h"

namespace railshmem {
namespace {

/// acquire: pairs with the release of the peer's update; its stores before the synchronisation are visible after.
bool reached(const ControlLine& line, uint64_t number) noexcept {
  return __atomic_load_n(&line.value, __ATOMIC_ACQUIRE) >= number;
}

}  // namespace

WorldSync::WorldSync(PeState& state, const NodeLayout& layout) noexcept
    : state_(state),
      layout_(layout),
      node_size_(static_cast<int>(layout.members.size())),
      nodes_(static_cast<int>(layout.leaders.size())),
      flags_in_node_(nodes_ == 1 && layout.pes_on_host <= usable_cpus()) {}

ControlBlock& WorldSync::block_of(int slot) const noexcept {
  const SegmentView& heap = state_.segment[0];
  return *reinterpret_cast<ControlBlock*>(heap.node_base + static_cast<size_t>(slot) * heap.stride);
}

void WorldSync::sync(const char* function) noexcept {
  ++number_;
  if (state_.npes == 1) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (flags_in_node_) return disseminate_in_node(function);
  if (node_size_ == 1) return disseminate_among_leaders(function);
  arrive_and_wait(function);
}

/// Round r: tell the PE 2^r slots further, wait for the one 2^r slots before. log2(size) flag latencies.
void WorldSync::disseminate_in_node(const char* function) noexcept {
  ControlBlock& mine = block_of(layout_.my_slot);
  for (int r = 0, distance = 1; distance < node_size_; ++r, distance *= 2) {
    int to = layout_.my_slot + distance;
    if (to >= node_size_) to -= node_size_;
    int from = layout_.my_slot - distance;
    if (from < 0) from += node_size_;
    // release: pairs with reached(); orders this PE's stores before the synchronisation.
    __atomic_store_n(&block_of(to).round[r].value, number_, __ATOMIC_RELEASE);
    wait_for(state_, {function, layout_.members[static_cast<size_t>(from)]},
             [&] { return reached(mine.round[r], number_); });
  }
}

/// One counter and one flag in the leader's memory: a PE needs the CPU only twice, which is what counts when PEs
/// outnumber CPUs. Between nodes the leader goes on alone.
void WorldSync::arrive_and_wait(const char* function) noexcept {
  ControlBlock& leader = block_of(0);
  const uint64_t all = number_ * static_cast<uint64_t>(node_size_);
  // acq_rel: the last one to arrive must see, and pass on, what all others released.
  const uint64_t arrived = __atomic_add_fetch(&leader.arrived.value, 1, __ATOMIC_ACQ_REL);
  if (nodes_ == 1) {
    if (arrived == all) return __atomic_store_n(&leader.released.value, number_, __ATOMIC_RELEASE);
  } else if (layout_.my_slot == 0) {
    wait_for(state_, {function}, [&] { return reached(leader.arrived, all); });
    disseminate_among_leaders(function);
    return __atomic_store_n(&leader.released.value, number_, __ATOMIC_RELEASE);
  }
  wait_for(state_, {function, layout_.members[0]}, [&] { return reached(leader.released, number_); });
}

void WorldSync::disseminate_among_leaders(const char* function) noexcept {
  ControlBlock& mine = block_of(layout_.my_slot);
  for (int r = 0, distance = 1; distance < nodes_; ++r, distance *= 2) {
    const int to = layout_.leaders[static_cast<size_t>((layout_.my_node + distance) % nodes_)];
    const int from = layout_.leaders[static_cast<size_t>((layout_.my_node - distance + nodes_) % nodes_)];
    const uint64_t offset = offsetof(ControlBlock, leader_round) + static_cast<size_t>(r) * sizeof(ControlLine);
    net_flag(*state_.network, {to, SegmentId::heap, offset}, number_);
    wait_for(state_, {function, from}, [&] { return reached(mine.leader_round[r], number_); });
  }
}

}  // namespace railshmem
