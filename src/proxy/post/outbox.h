// SPDX-License-Identifier: BSD-3-Clause
// The source's memory of its requests: which ones a target has not answered. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/proxy/post/cell_pool.h"
#include "src/proxy/post/message.h"

namespace railshmem {

/// Requests to one target are numbered from 0. At most kWindow lie between the oldest unanswered one and the next, so
/// the target knows for each number whether it has been here. 12 bytes per target.
class Outbox {
 public:
  /// `first` is 0 but for tests, which want to see the numbers wrap around.
  explicit Outbox(int npes, uint32_t first = 0) : peers_(static_cast<size_t>(npes), Peer{first}) {}

  size_t total() const noexcept { return total_; }
  bool has_room(int pe, const CellPool& cells, uint32_t window = kWindow) const noexcept {
    const Peer& peer = at(pe);
    return peer.oldest == kNoCell || peer.next - cells[peer.oldest].sequence < window;
  }
  /// The request to `pe` that was sent last and is not answered yet, of those that need an order; else null.
  const OpCell* newest(int pe, const CellPool& cells) const noexcept {
    for (uint32_t i = at(pe).newest; i != kNoCell; i = cells[i].previous)
      if (!cells[i].unordered) return &cells[i];
    return nullptr;
  }
  /// Whether a target may say that it has executed all requests before this number: no later one was sent.
  bool may_miss(int pe, uint32_t sequence) const noexcept { return static_cast<int32_t>(sequence - at(pe).next) <= 0; }
  /// The number of the next request. It counts only once the request is added.
  uint32_t next(int pe) const noexcept { return at(pe).next; }

  void add(CellPool& cells, OpCell& cell) noexcept {
    Peer& peer = at(cell.what.pe);
    cell.sequence = peer.next++;
    cell.state.on<Event::send>();
    cell.previous = peer.newest;
    cell.next = kNoCell;
    (peer.newest == kNoCell ? peer.oldest : cells[peer.newest].next) = cell.index;
    peer.newest = cell.index;
    ++total_;
  }

  void remove(CellPool& cells, OpCell& cell) noexcept {
    Peer& peer = at(cell.what.pe);
    (cell.previous == kNoCell ? peer.oldest : cells[cell.previous].next) = cell.next;
    (cell.next == kNoCell ? peer.newest : cells[cell.next].previous) = cell.previous;
    cell.state.on<Event::answer>();
    --total_;
  }

  /// Calls executed_one(cell) for every request that an acknowledgement covers, which may remove it; fetching requests
  /// wait for their reply.
  template <class ExecutedOne>
  void acknowledge(CellPool& cells, int pe, uint32_t first_missing, uint64_t executed,
                   ExecutedOne&& executed_one) noexcept {
    for (uint32_t i = at(pe).oldest; i != kNoCell;) {
      OpCell& cell = cells[i];
      i = cell.next;
      const uint32_t ahead = cell.sequence - first_missing;
      if (ahead <= ~uint32_t{0} / 2) {  // not before first_missing, however old this acknowledgement is
        if (ahead > 64) return;
        if (ahead == 0 || ((executed >> (ahead - 1)) & 1) == 0) continue;
      }
      if (cell.fetch == nullptr) executed_one(cell);
    }
  }

  /// Calls visit(cell) for every unanswered request to `pe`, oldest first.
  template <class Visit>
  void for_each(CellPool& cells, int pe, Visit&& visit) noexcept {
    for (uint32_t i = at(pe).oldest; i != kNoCell;) {
      OpCell& cell = cells[i];
      i = cell.next;
      visit(cell);
    }
  }

  /// Nobody will answer any more.
  void clear() noexcept {
    for (Peer& peer : peers_) peer.oldest = peer.newest = kNoCell;
    total_ = 0;
  }

  /// "5 atomics or signals unanswered, 2 of them by PE 3"; empty without such requests.
  std::string describe(const CellPool& cells) const {
    for (size_t pe = 0; pe < peers_.size(); ++pe) {
      size_t count = 0;
      for (uint32_t i = peers_[pe].oldest; i != kNoCell; i = cells[i].next) ++count;
      if (count > 0) return text("%zu atomics or signals unanswered, %zu of them by PE %zu", total_, count, pe);
    }
    return {};
  }

 private:
  struct Peer {
    uint32_t next = 0;
    uint32_t oldest = kNoCell;  ///< cells, linked by OpCell::next
    uint32_t newest = kNoCell;
  };
  Peer& at(int pe) noexcept { return peers_[static_cast<size_t>(pe)]; }
  const Peer& at(int pe) const noexcept { return peers_[static_cast<size_t>(pe)]; }

  std::vector<Peer> peers_;
  size_t total_ = 0;
};

}  // namespace railshmem
