// SPDX-License-Identifier: BSD-3-Clause
// Ends what is under way to peers that have died, in a job whose PEs go on without them.
//
// A provider may never tell of an operation to a dead peer again, or tell of an error at any time. So all of them end
// when the death is known, and their cells stay out of use until the provider has told. What is posted to the peer
// later on is swallowed by the Desk: every structure on the way drains as if the peer answered at once.
#pragma once

#include <cstdint>

#include "src/base/log.h"
#include "src/proxy/failover/failover.h"
#include "src/proxy/post/desk.h"
#include "src/proxy/post/requests.h"

namespace railshmem {

template <Rail R>
class Departures {
 public:
  Departures(Desk<R>& desk, Requests<R>& requests, int npes) : desk_(desk), requests_(requests), npes_(npes) {}

  /// At every poll where peers may be lost. The rail has told the last event of a cell: end_flight(cell). A request was
  /// answered: answered(cell).
  template <class EndFlight, class Answered>
  void step(Failover<R>& failover, EndFlight&& end_flight, Answered&& answered) noexcept {
    for (int pe = 0; seen_ != desk_.lost->count() && pe < npes_; ++pe)
      if (desk_.lost->has(pe)) part_with(pe, failover, end_flight);
    seen_ = desk_.lost->count();
    if (!desk_.gone.any()) return;
    for (const uint32_t index : desk_.gone.take_swallowed()) {
      OpCell& cell = desk_.cells[index];
      const uint8_t rail = cell.rail;
      desk_.rails.came(rail);
      end_flight(cell);
      retire_given(cell, rail);
    }
    for (int pe = 0; pe < npes_; ++pe) {
      if (!desk_.gone.has(pe)) continue;
      requests_.outbox().for_each(desk_.cells, pe, [&](OpCell& cell) {
        const uint8_t rail = cell.rail;
        requests_.settle(cell, answered);
        retire_given(cell, rail);
      });
    }
  }

  /// The peer has died: ends all that rails have under way to it.
  template <class EndFlight>
  void part_with(int pe, Failover<R>& failover, EndFlight&& end_flight) noexcept {
    if (desk_.gone.has(pe)) return;
    desk_.gone.add(pe, npes_, desk_.cells.size());
    if (!desk_.rails.single()) failover.part_with(pe);
    size_t dropped = 0;
    for (uint32_t i = 0; i < desk_.cells.size(); ++i) {
      OpCell& cell = desk_.cells[i];
      const bool stranded = cell.flight == Flight::lost;  // no rail knows it any more
      if (cell.what.kind == OpKind::none || cell.what.pe != pe || !(cell.in_flight() || stranded)) continue;
      ++dropped;
      const uint8_t rail = cell.rail;
      if (!stranded) desk_.gone.haunt(i);
      end_flight(cell);
      retire_given(cell, rail);
    }
    log_info("%s endpoint: %zu operations to PE %d were under way when it died", name_of(desk_.letterhead.port),
             dropped, pe);
  }

  /// The provider has told the event of a cell. True where nobody waits for it any more.
  bool is_late(OpCell& cell) noexcept {
    if (!desk_.gone.is_haunted(cell.index)) return false;
    desk_.gone.exorcise(cell.index);
    if (cell.what.kind == OpKind::none) desk_.cells.restore(cell);
    return true;
  }

 private:
  void retire_given(OpCell& cell, uint8_t rail) noexcept {
    if (cell.what.kind == OpKind::none && desk_.gone.is_haunted(cell.index)) desk_.cells.retire(cell, rail);
  }

  Desk<R>& desk_;
  Requests<R>& requests_;
  const int npes_;
  uint32_t seen_ = 0;  ///< lost peers
};

}  // namespace railshmem
