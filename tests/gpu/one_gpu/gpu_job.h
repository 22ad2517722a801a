// SPDX-License-Identifier: BSD-3-Clause
// Several PEs on one GPU: their heaps are slices of one allocation, their views an array, and a CPU thread plays the
// proxies of all. PEs of one node reach each other directly; the heaps of a job with far PEs are pinned, so that the
// CPU can execute commands on them.
#pragma once

#include <thread>
#include <vector>

#include "include/shmem/detail/device_control.h"
#include "include/shmem/detail/world.h"
#include "tests/gpu/one_gpu/gpu_support.h"
#include "tests/support/execute_command.h"

namespace railshmem::gpu_test {

/// For a kernel's function that returns the line of its first failure, 0 for none.
#define LINE_UNLESS(condition)         \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (false)

struct GpuJob {
  static constexpr uint64_t kObjects = uint64_t{2} << 20;  ///< offset of the program's objects
  static constexpr uint32_t kChannels = 2, kLog2Cells = 8;

  /// `log2_payloads`: of the large payload slots of a ring; negative: it has none.
  GpuJob(int pes, int pes_a_node, uint64_t heap_nbytes, uint64_t timeout_ns = kLong, int log2_payloads = -1)
      : npes(pes),
        node_npes(pes_a_node),
        heap(heap_nbytes),
        place(pes == pes_a_node ? Place::gpu : Place::pinned),
        block(allocate(static_cast<uint64_t>(pes) * heap_nbytes, place)),
        views(static_cast<size_t>(pes)),
        channel_views(static_cast<size_t>(pes) * kChannels),
        cells(size_t{static_cast<size_t>(pes)} << kLog2Cells),
        taken(allocate(static_cast<size_t>(pes) * (sizeof(uint32_t) << kLog2Cells), Place::gpu)),
        faults(static_cast<size_t>(pes)),
        fault_taken(allocate(static_cast<size_t>(pes) * sizeof(uint32_t), Place::gpu)) {
    for (int pe = 0; pe < npes; ++pe) add(pe, timeout_ns, log2_payloads);
    proxy = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  unsigned char* heap_of(int pe) const {
    return static_cast<unsigned char*>(block.get()) + static_cast<uint64_t>(pe) * heap;
  }
  unsigned char* object(int pe, uint64_t offset = 0) const { return heap_of(pe) + kObjects + offset; }

  void add(int pe, uint64_t timeout_ns, int log2_payloads) {
    const auto p = static_cast<size_t>(pe);
    const int first = pe / node_npes * node_npes;
    const bool alone = node_npes == npes;
    for (uint32_t i = 0; i < kChannels && !alone; ++i) {
      ChannelMemory memory = kernel_channel_memory(8, Place::gpu);
      if (log2_payloads >= 0) {
        const auto log2_large = static_cast<uint32_t>(log2_payloads);
        slots.push_back(allocate(PayloadMemory::nbytes(log2_large), Place::pinned));
        lines.push_back(allocate(sizeof(PayloadLine), Place::gpu));
        memory.payloads = {static_cast<std::byte*>(slots.back().get()), static_cast<PayloadLine*>(lines.back().get()),
                           log2_large};
      }
      channels.push_back(std::make_unique<Channel>(std::move(memory)));
      ChannelView& view = channel_views[p * kChannels + i];
      view = kernel_view(*channels.back());
      view.replies = {cells.get() + (p << kLog2Cells), static_cast<uint32_t*>(taken.get()) + (p << kLog2Cells),
                      kLog2Cells};
    }
    WorldView v;
    v.pe = pe;
    v.npes = npes;
    v.first_pe = first;
    v.node_npes = node_npes;
    v.heap = {heap_of(pe), heap, heap_of(first), heap, 0, alone ? heap : 0, 0};
    v.channels = channel_views.get() + p * kChannels;
    v.nchannels = alone ? 0 : kChannels;
    v.timeout_ns = timeout_ns;
    v.fault = faults.get() + p;
    v.fault_taken = static_cast<uint32_t*>(fault_taken.get()) + p;
    v.control_nbytes = DeviceControlLayout(npes, 1).nbytes();
    GPU_CHECK(v.control_nbytes <= kObjects, "control memory of %llu bytes",
              static_cast<unsigned long long>(v.control_nbytes));
    v.check = 1;
    views[p] = v;
  }

  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const auto& channel : channels) {
        while (auto command = channel->peek()) {
          const uint32_t hold = Payloads::hold_of(command->value, command->nbytes);
          const bool put = find_payload(*channel, *command), get = find_get_slot(*channel, *command);
          execute_command(*command, heap_of(static_cast<int>(command->pe) % npes));  // a fence names no PE
          if (put) channel->free_payload(hold);
          by_slots += put || get ? 1 : 0;
          channel->complete(channel->next());
          channel->pop();
          ++commands;
        }
        channel->publish();
      }
    }
  }

  void check_faults(const char* what) {
    for (int pe = 0; pe < npes; ++pe) {
      const FaultRecord& f = faults[static_cast<size_t>(pe)];
      GPU_CHECK(f.ready == 0, "%s: PE %d: shmem_%s ended with status %llu (pe %d, address %llx, block %u thread %u)",
                what, pe, name_of(f.call), static_cast<unsigned long long>(f.status), f.pe,
                static_cast<unsigned long long>(f.address), f.block, f.thread);
    }
  }

  const int npes, node_npes;
  const uint64_t heap;
  const Place place;
  ChannelMemory::Block block;
  Pinned<WorldView> views;
  Pinned<ChannelView> channel_views;
  Pinned<ReplyCells::Cell> cells;
  ChannelMemory::Block taken;
  Pinned<FaultRecord> faults;
  ChannelMemory::Block fault_taken;
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<ChannelMemory::Block> slots, lines;
  std::atomic<uint64_t> commands{0}, by_slots{0};  ///< of which by_slots had their data in slots
  std::jthread proxy;
};

}  // namespace railshmem::gpu_test
