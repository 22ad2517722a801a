// SPDX-License-Identifier: BSD-3-Clause
// What this PE asks of the mailboxes of its node: map my allocation, and unmap it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/mail.h"
#include "src/gpu/shared_allocation.h"
#include "src/topology/node_layout.h"

namespace railshmem {

/// Any number of threads.
class ShareClient {
 public:
  /// `by_slot`: whom to ask. `offers` outlives this.
  ShareClient(int me, std::vector<Addressee> by_slot, FdOffers& offers) noexcept
      : me_(me), by_slot_(std::move(by_slot)), offers_(offers) {}

  /// Has the PE of a slot map an allocation, and returns the address there; 0, and `why`, where that PE cannot map it.
  /// Throws Error naming the PE where it does not answer.
  uint64_t import(const SharedAllocation& allocation, size_t slot, std::string& why) const;

  enum class Withdrawal : uint8_t { waits, only_tells };
  /// Has the PE of a slot unmap it. Waits 1 s at most, or for nothing. Returns true where it is known to be unmapped.
  bool withdraw(uint64_t number, size_t slot, Withdrawal how) const noexcept;

  const std::string& name(size_t slot) const noexcept { return by_slot_[slot].name; }

 private:
  const int me_;
  const std::vector<Addressee> by_slot_;
  FdOffers& offers_;
};

}  // namespace railshmem
