// SPDX-License-Identifier: BSD-3-Clause
// Peers that want to know what has arrived from them over a rail that they have given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/cpu.h"
#include "src/plugin/rail.h"

namespace railshmem {

struct Inquiry {
  Endpoint from;
  size_t rail;      ///< that it came over
  uint32_t number;  ///< goes back with the account
  uint64_t since_ns;
  uint32_t passes = 0;  ///< of the endpoint since then
  bool due = false;     ///< has waited long enough; what had arrived by then was request number `behind`
  uint64_t behind = 0;
};

/// Requests that have arrived here, and those of them that were executed: the others wait for a flush.
struct ArrivalCounts {
  uint64_t arrived = 0;
  uint64_t executed = 0;
};

/// What the dead rail had delivered to this host may still be in a queue of the provider or of the kernel. So an
/// account is given only after the rails have been looked at many times, and what came by then was executed: a request
/// that an account leaves out is sent again, data and all. An endpoint waits for the account of its newest inquiry
/// only, so there is one for each endpoint at most.
class Inquiries {
 public:
  bool empty() const noexcept { return waiting_.empty(); }
  void add(Endpoint from, size_t rail, uint32_t number) noexcept {
    for (Inquiry& inquiry : waiting_) {
      if (inquiry.from.pe != from.pe || inquiry.from.port != from.port) continue;
      if (static_cast<int32_t>(number - inquiry.number) > 0) inquiry = {from, rail, number, now_ns()};
      return;
    }
    waiting_.push_back({from, rail, number, now_ns()});
  }

  /// Once per pass: hands out those that have waited long enough.
  template <class Due>
  void take_due(const ArrivalCounts& requests, Due&& due) noexcept {
    if (waiting_.empty()) [[likely]]
      return;
    const uint64_t now = now_ns();
    for (size_t i = 0; i < waiting_.size();) {
      Inquiry& inquiry = waiting_[i];
      if (!inquiry.due && ++inquiry.passes >= kPasses && now - inquiry.since_ns >= kDrainNs) {
        inquiry.due = true;
        inquiry.behind = requests.arrived;
      }
      if (!inquiry.due || requests.executed < inquiry.behind) {
        ++i;
        continue;
      }
      due(inquiry);
      inquiry = waiting_.back();
      waiting_.pop_back();
    }
  }

 private:
  static constexpr uint32_t kPasses = 512;        // each reads at least one message or piece per connection
  static constexpr uint64_t kDrainNs = 20000000;  // 20 ms: a full socket buffer is read in less

  std::vector<Inquiry> waiting_;
};

}  // namespace railshmem
