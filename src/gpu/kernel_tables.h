// SPDX-License-Identifier: BSD-3-Clause
// Teams and contexts as kernels see them: tables in the GPU's memory that follow those of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "include/shmem/detail/device_control.h"
#include "include/shmem/detail/world.h"
#include "src/cuda/device_copies.h"

namespace railshmem {

/// One thread at a time changes a row. A row is there before its handle is anywhere.
class KernelTables {
 public:
  /// Contexts beyond these cannot be used by kernels, who are told that the handle is bad.
  static constexpr size_t kContexts = 256;

  static size_t device_nbytes(int npes, int nteams) noexcept;

  /// `device` is zeroed memory of the GPU, `control` the control memory (device_control.h) of `nteams` teams.
  KernelTables(cuda::DeviceCopies& copies, std::byte* device, std::byte* control, int npes, int nteams) noexcept
      : copies_(copies), device_(device), control_(control), npes_(npes), nteams_(nteams) {}

  /// The team in `row.slot`. Its control memory is zero afterwards, so the members meet before one of them uses it.
  /// `pes`: those that `start`, `stride` and `size` of the row select from, ascending; empty: all PEs.
  void set_team(TeamRow row, std::span<const int> pes) noexcept;
  void clear_team(int slot) noexcept;
  void set_context(size_t place, const ContextRow& row) noexcept;
  void add_to(WorldView& view) const noexcept;

 private:
  TeamRow* team(size_t slot) const noexcept { return reinterpret_cast<TeamRow*>(device_) + slot; }
  ContextRow* context(size_t place) const noexcept {
    return reinterpret_cast<ContextRow*>(device_ + static_cast<size_t>(nteams_) * sizeof(TeamRow)) + place;
  }
  int32_t* list(size_t slot) const noexcept {
    return reinterpret_cast<int32_t*>(context(kContexts)) + slot * static_cast<size_t>(npes_);
  }

  cuda::DeviceCopies& copies_;
  std::byte* const device_;
  std::byte* const control_;
  const int npes_;
  const int nteams_;
};

}  // namespace railshmem
