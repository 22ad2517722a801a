// SPDX-License-Identifier: BSD-3-Clause
// Ends what is under way to peers that have died, in a job whose PEs go on without them.
//
// A provider may never tell of an operation to a dead peer again, or tell of an error at any time. So all of them end
// when the death is known, and their cells stay out of use until the provider has told (OperationTable::give). What is
// posted to the peer later on is swallowed by the OperationTable: every structure on the way drains as if the peer
// answered at once.
//
// Rails may find out first. An operation that fails puts its peer in doubt: nothing more goes there, and nothing ends
// until the death is known. Without one this PE ends, as it does for any failure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/proxy/failover/failover.h"
#include "src/proxy/post/operation_table.h"
#include "src/proxy/post/requests.h"

namespace railshmem {

template <Rail R>
class PeerFailureHandler {
 public:
  PeerFailureHandler(OperationTable<R>& table, Requests<R>& requests, int npes)
      : table_(table), requests_(requests), npes_(npes) {}

  /// At every poll where peers may be lost. The rail has told the last event of a cell: end_flight(cell). A request was
  /// answered: answered(cell).
  template <class EndFlight, class Answered>
  void step(Failover<R>& failover, EndFlight&& end_flight, Answered&& answered) noexcept {
    if (const uint32_t lost = table_.lost->count(); lost != seen_) [[unlikely]] {
      seen_ = lost;
      for (int pe = 0; pe < npes_; ++pe)
        if (table_.lost->has(pe) && !table_.gone().has(pe)) part_with(pe, failover, end_flight);
    }
    if (!table_.gone().any()) return;
    for (const uint32_t index : table_.gone().take_swallowed([this](uint32_t i) { return is_of_lost(i); })) {
      OpCell& cell = table_.cells()[index];
      cell.swallowed = false;
      table_.rails().came(cell.rail);
      end_flight(cell);
    }
    for (int pe = 0; pe < npes_; ++pe) {
      if (!table_.gone().has(pe)) continue;
      requests_.outbox().for_each(table_.cells(), pe, [&](OpCell& cell) { requests_.settle(cell, answered); });
    }
    if (!table_.gone().doubts().empty()) settle_doubts();
  }

  /// An operation failed, and its rail cannot be replaced.
  void doubt(OpCell& cell, size_t r) noexcept {
    table_.rails().came(r);
    table_.swallow(cell, r);
  }

  /// One write or read to a peer in doubt.
  Post issue(const Op& op) noexcept {
    const bool signals = op.kind == OpKind::put_signal;
    if (signals && !requests_.may_send(op.remote.pe)) return Post::again;
    OpCell* const cell = table_.hold(op);
    if (cell == nullptr) return Post::again;
    table_.swallow(*cell, 0);
    if (cell->is_word) table_.words().posted(op.remote.pe, 0);
    table_.count_in(*cell, {op.kind, op.remote.pe, op.nbytes}, op.context, op.outcome);
    if (!signals) return Post::ok;
    table_.make_lasting(*cell);
    cell->owes_signal(op.detail.signal);
    return Post::ok;
  }

  /// The provider has told the event of a cell. True where nobody waits for it any more.
  bool is_late(OpCell& cell) noexcept {
    if (!table_.gone().awaits_event(cell.index)) return false;
    table_.gone().event_came(cell.index);
    if (cell.what.kind == OpKind::none) table_.cells().restore(cell);
    return true;
  }

 private:
  static constexpr uint64_t kPatienceNs = 10'000'000'000;  // a process with much GPU memory takes seconds to end

  bool is_of_lost(uint32_t cell) const noexcept { return table_.gone().has(table_.cells()[cell].what.pe); }

  /// The peer has died: ends all that rails have under way to it.
  template <class EndFlight>
  void part_with(int pe, Failover<R>& failover, EndFlight&& end_flight) noexcept {
    table_.gone().add(pe);
    if (!table_.rails().single()) failover.part_with(pe);
    size_t dropped = 0;
    for (uint32_t i = 0; i < table_.cells().size(); ++i) {
      OpCell& cell = table_.cells()[i];
      if (cell.what.kind == OpKind::none || cell.what.pe != pe || cell.swallowed) continue;
      const bool stranded = cell.state.data_is_lost();  // no rail knows it any more
      if (!cell.state.in_flight() && !stranded) continue;
      ++dropped;
      if (!stranded) table_.gone().await_event(i);
      end_flight(cell);
    }
    log_info("%s endpoint: %zu operations to PE %d were under way when it died", name_of(table_.headers.port), dropped,
             pe);
  }

  /// Forgets the doubts that a death explains. Ends this PE where none has come for long.
  [[gnu::cold]] void settle_doubts() noexcept {
    std::erase_if(table_.gone().doubts(), [this](const Doubt& doubt) {
      return doubt.what.kind == OpKind::none ? seen_ > 0 : table_.gone().has(doubt.what.pe);
    });
    const uint64_t patience_ns = std::min(kPatienceNs, table_.tuning.unreachable_ns);
    for (const Doubt& doubt : table_.gone().doubts()) {
      if (now_ns() - doubt.since_ns < patience_ns) continue;
      const std::string& rail = table_.rails()[doubt.rail].name();
      if (doubt.what.kind == OpKind::none) die_rail_failed(rail, doubt.error, {});
      die_failed(doubt.what, rail, doubt.error);
    }
  }

  OperationTable<R>& table_;
  Requests<R>& requests_;
  const int npes_;
  uint32_t seen_ = 0;  ///< lost peers
};

}  // namespace railshmem
