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

  struct Answer {
    uint64_t address = 0;  ///< in that PE; 0: it cannot map the allocation
    bool later = false;    ///< it will be able to
    std::string why = {};  ///< it cannot
  };
  /// Has the PE of a slot map an allocation. Throws Error naming the PE where it does not answer.
  Answer import(const SharedAllocation& allocation, size_t slot) const;

  enum class Withdrawal : uint8_t { waits, only_notifies };
  /// Has the PE of a slot unmap it. Waits 1 s at most, or for nothing. Returns true where it is known to be unmapped.
  bool withdraw(uint64_t number, size_t slot, Withdrawal how) const noexcept;

  const std::string& name(size_t slot) const noexcept { return by_slot_[slot].name; }

 private:
  const int me_;
  const std::vector<Addressee> by_slot_;
  FdOffers& offers_;
};

}  // namespace railshmem
