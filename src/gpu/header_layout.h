// SPDX-License-Identifier: BSD-3-Clause
// The library's own part of a device heap: the shared state of kernels' channels, the control memory of kernels'
// collectives, and tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/device_control.h"
#include "src/base/align.h"
#include "src/gpu/kernel_channels.h"
#include "src/gpu/kernel_tables.h"

namespace railshmem {

/// Offsets in bytes from the heap's base, equal on all PEs.
struct HeaderLayout {
  /// Control memory for all teams grows with the square of the job's size: beyond so many bytes kernels get fewer
  /// teams.
  static constexpr uint64_t kMostControl = uint64_t{64} << 20;

  /// There are `slot_count` scratch slots (ScratchSlots).
  HeaderLayout(size_t rings, uint32_t log2_ring_slots, int npes, int teams_max, size_t slot_count,
               size_t nbytes_of_slot) noexcept
      : control(align_up(KernelChannels::device_nbytes(rings, log2_ring_slots), 256)),
        nteams(static_cast<int>(std::clamp<uint64_t>(kMostControl / DeviceControlLayout(npes, 1).nbytes(), 1,
                                                     static_cast<uint64_t>(teams_max)))),
        control_nbytes(DeviceControlLayout(npes, nteams).nbytes()),
        tables(align_up(control + control_nbytes, 256)),
        tables_nbytes(KernelTables::device_nbytes(npes, nteams)),
        flush(align_up(tables + tables_nbytes, kLine)),
        scratch_slots(align_up(flush + kLine, 4096)),
        nscratch_slots(slot_count),
        scratch_slot_nbytes(nbytes_of_slot) {}

  /// Everything before the scratch slots must be zero at the start.
  size_t zero_nbytes() const noexcept { return scratch_slots; }
  size_t nbytes() const noexcept { return scratch_slots + nscratch_slots * scratch_slot_nbytes; }

  size_t control;
  int nteams;  ///< number of teams that kernels can use
  size_t control_nbytes;
  size_t tables;
  size_t tables_nbytes;
  size_t flush;          ///< 8 bytes on a cache line of their own, which a flush of the rails reads and writes
  size_t scratch_slots;  ///< for collectives between nodes
  size_t nscratch_slots;
  size_t scratch_slot_nbytes;

 private:
  static constexpr size_t kLine = 128;
};

}  // namespace railshmem
