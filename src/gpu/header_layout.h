// SPDX-License-Identifier: BSD-3-Clause
// What of a device heap is the library's own: what kernels' channels share, the control memory of their
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

/// At the same offsets on every PE, in bytes from the heap's base.
struct HeaderLayout {
  /// Control memory for all teams of a job takes the square of its size: beyond this much there are fewer of them.
  static constexpr uint64_t kMostControl = uint64_t{64} << 20;

  HeaderLayout(size_t rings, uint32_t log2_ring_slots, int npes, int teams_max) noexcept
      : control(align_up(KernelChannels::device_nbytes(rings, log2_ring_slots), 256)),
        nteams(static_cast<int>(std::clamp<uint64_t>(kMostControl / DeviceControlLayout(npes, 1).nbytes(), 1,
                                                     static_cast<uint64_t>(teams_max)))),
        control_nbytes(DeviceControlLayout(npes, nteams).nbytes()),
        tables(align_up(control + control_nbytes, 256)),
        tables_nbytes(KernelTables::device_nbytes(npes, nteams)),
        flush(align_up(tables + tables_nbytes, kLine)) {}

  size_t nbytes() const noexcept { return flush + kLine; }

  size_t control;
  int nteams;  ///< that kernels can use
  size_t control_nbytes;
  size_t tables;
  size_t tables_nbytes;
  size_t flush;  ///< of 8 bytes, on a cache line of their own: what a flush of the rails reads and writes

 private:
  static constexpr size_t kLine = 128;
};

}  // namespace railshmem
