// SPDX-License-Identifier: BSD-3-Clause
// Copies within this PE's node that go on while a collective talks to other nodes.
#pragma once

#include <cstddef>

#include "src/plugin/device_access.h"
#include "src/rma/copy.h"
#include "src/team/team.h"

namespace railshmem {

/// The team's queue of copies in the background; null in jobs without GPUs. Ends the job where the driver refuses.
DeviceQueue* queue_of(Team& team, const char* function) noexcept;

/// By copy engines where a GPU's memory is involved; else the CPU copies at once. For the collective that runs now.
class Background {
 public:
  using Ticket = DeviceQueue::Ticket;

  Background(Team& team, const char* function) noexcept : queue_(queue_of(team, function)) {}

  /// Whether copies go on while the caller does something else.
  bool goes_on() const noexcept { return queue_ != nullptr; }
  /// Copies of different lanes run side by side.
  Ticket copy(void* to, const void* from, size_t nbytes, size_t lane) noexcept {
    if (queue_) return queue_->copy({to, from, nbytes}, lane);
    if (to != from && nbytes > 0) store_block(nullptr, static_cast<std::byte*>(to), from, nbytes);
    return DeviceQueue::kDone;
  }
  /// Of arrays in the memory of GPUs; needs goes_on().
  Ticket reduce(const DeviceReduction& reduction) noexcept { return queue_->reduce(reduction); }
  bool finished(Ticket ticket) noexcept { return ticket == DeviceQueue::kDone || queue_->finished(ticket); }

 private:
  DeviceQueue* const queue_;
};

}  // namespace railshmem
