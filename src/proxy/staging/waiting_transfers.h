// SPDX-License-Identifier: BSD-3-Clause
// Transfers with pieces yet to be issued, in one line for each kind of slot that their next piece takes. Those that
// take none have a line of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/proxy/post/op_cell.h"
#include "src/proxy/staging/bounce_pool.h"

namespace railshmem {

/// What the next piece of a transfer takes: a SlotKind, or nothing, because its data is in the bounce area already.
enum class PieceTakes : uint8_t { small, medium, large, nothing };
constexpr PieceTakes takes(SlotKind kind) noexcept {
  return static_cast<PieceTakes>(kind);
}
static_assert(takes(SlotKind::large) == PieceTakes::large);

struct WaitingTransfer {
  OpCell* whole;
  size_t issued;  ///< bytes, in pieces
  uint32_t next;  ///< behind it in its line

  bool all_issued() const noexcept { return issued == whole->what.nbytes; }
};

/// Hundreds may wait. Who looks for one that may go passes only those of a kind of slot that is free. Oldest first; of
/// one that changes its line, from there on. Nothing is allocated after construction.
class WaitingTransfers {
 public:
  explicit WaitingTransfers(size_t most) : entries_(most) { clear(); }

  bool full() const noexcept { return free_ == kNone; }
  /// Not when full().
  void add(PieceTakes what, OpCell& whole) noexcept {
    const uint32_t index = free_;
    free_ = entries_[index].next;
    entries_[index] = {&whole, 0, kNone};
    append(what, index);
  }
  void clear() noexcept {
    lines_ = {};
    free_ = entries_.empty() ? kNone : 0;
    for (size_t i = 0; i < entries_.size(); ++i)
      entries_[i].next = i + 1 < entries_.size() ? static_cast<uint32_t>(i + 1) : kNone;
  }

  /// What becomes of an entry that was looked at. stop: it stays, and nobody behind it is looked at.
  enum class Verdict : uint8_t { stays, stop, moves, done };

  /// Calls look(entry) for each of a line until it says stop; `takes_next(entry)` is the new line of one that moves.
  template <class Look, class TakesNext>
  void walk(PieceTakes what, Look&& look, TakesNext&& takes_next) noexcept {
    Line& line = lines_[static_cast<size_t>(what)];
    const uint32_t last = line.last;  // transfers that come meanwhile wait for the next call
    for (uint32_t before = kNone, index = line.first; index != kNone;) {
      WaitingTransfer& entry = entries_[index];
      const uint32_t behind = index == last ? kNone : entry.next;
      const Verdict verdict = look(entry);
      if (verdict == Verdict::stop) return;
      if (verdict == Verdict::stays) {
        before = index;
      } else {
        unlink(line, before, index);
        if (verdict == Verdict::moves) {
          append(takes_next(entry), index);
        } else {
          entry.next = free_;
          free_ = index;
        }
      }
      index = behind;
    }
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Line {
    uint32_t first = kNone;
    uint32_t last = kNone;
  };

  void append(PieceTakes what, uint32_t index) noexcept {
    Line& line = lines_[static_cast<size_t>(what)];
    entries_[index].next = kNone;
    (line.last == kNone ? line.first : entries_[line.last].next) = index;
    line.last = index;
  }
  void unlink(Line& line, uint32_t before, uint32_t index) noexcept {
    const uint32_t behind = entries_[index].next;
    (before == kNone ? line.first : entries_[before].next) = behind;
    if (line.last == index) line.last = before;
  }

  std::vector<WaitingTransfer> entries_;
  std::array<Line, kSlotKinds + 1> lines_;
  uint32_t free_ = kNone;  ///< the first entry not in use
};

}  // namespace railshmem
