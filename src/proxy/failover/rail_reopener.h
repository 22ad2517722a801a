// SPDX-License-Identifier: BSD-3-Clause
// Closes rails that hold operations which will never end, and opens them anew; PathWatch tells the peers.
#pragma once

#include <exception>
#include <vector>

#include "src/base/log.h"
#include "src/proxy/failover/rail_descriptors.h"
#include "src/proxy/post/operation_table.h"

namespace railshmem {

template <Rail R>
class RailReopener {
 public:
  RailReopener(OperationTable<R>& table, RailDescriptors& descriptors, RailKeeper* keeper)
      : table_(table), descriptors_(descriptors), keeper_(keeper) {}

  bool active() const noexcept { return !closings_.empty(); }

  /// Nothing new goes over rail `r`; it is closed once what goes well on it has ended.
  void close(size_t r, uint64_t now) noexcept {
    if (!table_.rails().paths.is_open(r)) return;
    table_.rails().paths.set_open(r, false);
    closings_.push_back({r, now, false});
  }

  /// `down(r, pe)` for every path that ends with a rail, `strand(cell)` for every operation.
  template <class Down, class Strand>
  void step(uint64_t now, Down&& down, Strand&& strand) noexcept {
    for (size_t i = 0; i < closings_.size();)
      if (advance(closings_[i], now, down, strand)) {
        closings_.erase(closings_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
  }

 private:
  struct Closing {
    size_t rail;
    uint64_t since_ns;
    bool closed;
  };

  /// True when the rail is open again.
  template <class Down, class Strand>
  bool advance(Closing& closing, uint64_t now, Down&& down, Strand&& strand) noexcept {
    const size_t r = closing.rail;
    if (!closing.closed) {
      if (now - closing.since_ns < table_.tuning.rail_timeout_ns / 4 && others_are_busy(r)) return false;
    } else if (now - closing.since_ns < table_.tuning.rail_timeout_ns) {
      return false;
    }
    closing.since_ns = now;
    const bool open = reopen(r);
    if (!closing.closed) {
      closing.closed = true;
      lose_all(r, down, strand);
    }
    if (open) table_.rails().paths.set_open(r, true);
    return open;
  }

  bool others_are_busy(size_t r) noexcept {
    for (uint32_t i = 0; i < table_.cells().size(); ++i) {
      const OpCell& cell = table_.cells()[i];
      if (cell.what.kind != OpKind::none && cell.rail == r && cell.state.in_flight() &&
          table_.rails().paths.is_up(r, cell.what.pe))
        return true;
    }
    return false;
  }

  bool reopen(size_t r) noexcept {
    if (keeper_ == nullptr) return true;
    try {
      descriptors_.set(table_.headers, r, keeper_->reopen(table_.headers.port, r));
      log_debug("rail %s of the %s port was opened anew", table_.rails()[r].name().c_str(),
                name_of(table_.headers.port));
      return true;
    } catch (const std::exception& error) {
      log_debug("rail %s does not open again yet: %s", table_.rails()[r].name().c_str(), error.what());
      return false;
    }
  }

  template <class Down, class Strand>
  void lose_all(size_t r, Down&& down, Strand&& strand) noexcept {
    table_.rails().paths.set_unproven(r);
    for (uint32_t i = 0; i < table_.cells().size(); ++i) {
      OpCell& cell = table_.cells()[i];
      if (cell.what.kind != OpKind::none && cell.rail == r && cell.state.in_flight()) strand(cell);
    }
    for (int pe = 0; pe < table_.rails().paths.npes(); ++pe) down(r, pe);
  }

  OperationTable<R>& table_;
  RailDescriptors& descriptors_;
  RailKeeper* const keeper_;
  std::vector<Closing> closings_;
};

}  // namespace railshmem
