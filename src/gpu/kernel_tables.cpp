// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/kernel_tables.h"

namespace railshmem {

size_t KernelTables::device_nbytes(int npes, int nteams) noexcept {
  const auto teams = static_cast<size_t>(nteams);
  return teams * sizeof(TeamRow) + kContexts * sizeof(ContextRow) + teams * static_cast<size_t>(npes) * sizeof(int32_t);
}

void KernelTables::set_team(TeamRow row, std::span<const int> pes) noexcept {
  if (row.slot >= static_cast<uint32_t>(nteams_)) return;  // kernels find no row, and say that the handle is bad
  const DeviceControlLayout layout(npes_, nteams_);
  copies_.fill(control_ + layout.counters(row.slot), 0, layout.counters(1));
  if (!pes.empty()) {
    const std::vector<int32_t> members(pes.begin(), pes.end());
    row.table = list(row.slot);
    row.table_size = static_cast<int32_t>(members.size());
    copies_.copy(list(row.slot), members.data(), members.size() * sizeof(int32_t));
  }
  copies_.copy(team(row.slot), &row, sizeof row);
}

void KernelTables::clear_team(int slot) noexcept {
  if (slot >= nteams_) return;
  const TeamRow none;
  copies_.copy(team(static_cast<size_t>(slot)), &none, sizeof none);
}

void KernelTables::set_context(size_t place, const ContextRow& row) noexcept {
  if (place < kContexts) copies_.copy(context(place), &row, sizeof row);
}

void KernelTables::add_to(WorldView& view) const noexcept {
  view.teams = team(0);
  view.nteams = static_cast<uint32_t>(nteams_);
  view.contexts = context(0);
  view.ncontexts = kContexts;
}

}  // namespace railshmem
