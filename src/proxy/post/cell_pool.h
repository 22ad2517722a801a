// SPDX-License-Identifier: BSD-3-Clause
// Operations in flight: a fixed pool of cells whose addresses travel through the provider.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/channel/channel.h"
#include "src/plugin/network.h"
#include "src/plugin/rail.h"
#include "src/proxy/post/message.h"
#include "src/proxy/post/net_context.h"
#include "src/proxy/post/operation.h"

namespace railshmem {

inline constexpr uint32_t kNoCell = ~uint32_t{0};

/// What happens once all parts of an operation are complete.
enum class Then : uint8_t { nothing, send_signal, repeat_signal };

[[gnu::always_inline]] inline void finish_commands(const Outcome& outcome) noexcept {
  if (outcome.channel == nullptr) return;
  outcome.channel->complete(outcome.ticket);
  for (uint32_t i = 1; i < outcome.tickets; ++i) [[unlikely]] outcome.channel->complete(outcome.ticket + i);
}

inline void tell(bool* done) noexcept {
  // release: pairs with is_told(); the caller, who may not hold the endpoint, must see the data.
  if (done != nullptr) __atomic_store_n(done, true, __ATOMIC_RELEASE);
}
inline bool is_told(const bool& done) noexcept {
  return __atomic_load_n(&done, __ATOMIC_ACQUIRE);
}

/// One operation, or one piece of a longer one (`parent` then names the operation's own cell).
struct OpCell : OpSlot {
  Operation what{OpKind::none, -1, 0};  ///< kind none: the cell is free
  // give() clears the fields from here up to `next` in a few wide stores.
  Then then = Then::nothing;
  uint8_t fetch_width = 0;
  bool unordered = false;      ///< a request that may pass others: a piece of something longer
  bool lasting = false;        ///< goes on only if somebody polls; see Initiator::needs_polling()
  bool awaits_answer = false;  ///< a request: it stands in the outbox
  bool in_flight = false;      ///< the rail will tell an event of it
  bool lost_data = false;      ///< its rail died before the arrival of its data was known; see Failover
  bool lost_request = false;   ///< its rail died before its request was answered; see Failover
  uint32_t parts_left = 0;     ///< events and holds until the operation is complete, not counting its answer
  uint32_t first_look = 0;     ///< of PathWatch at this request; 0: none yet
  uint32_t request_bytes = 0;  ///< length of the request in the cell's buffer; 0: a signal, made anew from the fields
  uint32_t parent = kNoCell;
  uint32_t next = kNoCell;  ///< in the free list, the outbox, or the list of signals waiting for room
  uint32_t index = 0;
  uint32_t issue = 0;      ///< of a put or get: the order in which they were issued
  bool is_word = false;    ///< a put of at most 8 bytes, which a peer may poll
  bool one_event = false;  ///< a put of one write: the event of the write ends the operation
  SegmentId segment{};     ///< of the remote memory
  uint8_t rail = 0;        ///< that the operation, or its request, was posted on
  SignalOp signal_op{};
  SegmentId signal_segment{};
  uint64_t remote_offset = 0;  ///< of a put or get, or a piece of one
  std::byte* local = nullptr;
  Outcome outcome{};
  NetContext* context = nullptr;  ///< null: no context waits for this operation
  void* fetch = nullptr;          ///< where a reply's value goes
  uint32_t previous = kNoCell;
  uint32_t sequence = 0;  ///< of a request
  uint64_t staging = 0;   ///< of a staged piece: its slot; of the whole: bytes of the source yet to be copied
  uint64_t signal_offset = 0;
  uint64_t signal_value = 0;

  Remote remote() const noexcept { return {what.pe, segment, remote_offset}; }
  RailWrite write(bool more) noexcept { return {remote(), local, what.nbytes, this, more}; }
  RailRead read() noexcept { return {remote(), local, what.nbytes, this}; }
  /// True when the cell's event only says that the provider took a message over. The event of a write or read also says
  /// that the peer was reached.
  bool is_message() const noexcept { return what.kind == OpKind::answer || request_bytes > 0; }
  /// The signal goes when all parts of the data are complete, unless it goes earlier.
  void owes_signal(const NetSignal& signal) noexcept {
    then = Then::send_signal;
    set_signal(signal);
  }
  void set_signal(const NetSignal& signal) noexcept {
    signal_op = signal.op;
    signal_segment = signal.segment;
    signal_offset = signal.offset;
    signal_value = signal.value;
  }
  NetSignal signal() const noexcept { return {signal_segment, signal_offset, signal_value, signal_op}; }
};

/// Fixed at construction; take() and give() never allocate. One thread at a time.
class CellPool {
 public:
  explicit CellPool(size_t cells) : cells_(cells), buffers_(new std::byte[cells * kMaxMessage]) {
    for (size_t i = cells; i-- > 0;) {
      cells_[i].index = static_cast<uint32_t>(i);
      cells_[i].next = free_;
      free_ = static_cast<uint32_t>(i);
    }
  }

  /// A cell with every field at its default, or null when all are in flight.
  OpCell* take(const Operation& what) noexcept {
    OpCell* const cell = take_for_data(what);
    if (cell == nullptr) return nullptr;
    cell->is_word = false;
    cell->one_event = false;
    cell->context = nullptr;
    cell->outcome.channel = nullptr;
    return cell;
  }
  /// A cell for a put, get or put_signal, which sets the fields that take() sets beyond these.
  [[gnu::always_inline]] OpCell* take_for_data(const Operation& what) noexcept {
    if (free_ == kNoCell) [[unlikely]]
      return nullptr;
    OpCell& cell = cells_[free_];
    free_ = cell.next;
    cell.what = what;
    cell.next = kNoCell;
    ++in_use_;
    return &cell;
  }
  void give(OpCell& cell) noexcept {
    cell.then = Then::nothing;
    cell.fetch_width = 0;
    cell.unordered = false;
    cell.lasting = false;
    cell.awaits_answer = false;
    cell.in_flight = false;
    cell.lost_data = false;
    cell.lost_request = false;
    cell.parts_left = 0;
    cell.first_look = 0;
    cell.request_bytes = 0;
    cell.parent = kNoCell;
    cell.outcome.done = nullptr;
    cell.outcome.tickets = 1;
    cell.fetch = nullptr;
    cell.what.kind = OpKind::none;
    cell.next = free_;
    free_ = cell.index;
    --in_use_;
  }

  /// This cell's kMaxMessage bytes. Pages are touched at first use only, so idle cells cost no memory.
  std::byte* buffer(const OpCell& cell) noexcept { return buffers_.get() + cell.index * kMaxMessage; }

  OpCell& operator[](uint32_t index) noexcept { return cells_[index]; }
  const OpCell& operator[](uint32_t index) const noexcept { return cells_[index]; }
  size_t size() const noexcept { return cells_.size(); }
  size_t in_use() const noexcept { return in_use_; }

  /// Some operation in flight, for messages; of kind none when nothing is in flight.
  Operation any_in_flight() const noexcept {
    for (const OpCell& cell : cells_)
      if (cell.what.kind != OpKind::none) return cell.what;
    return {OpKind::none, -1, 0};
  }

 private:
  std::vector<OpCell> cells_;  ///< free cells are cleared, except for the fields that take() sets
  std::unique_ptr<std::byte[]> buffers_;
  uint32_t free_ = kNoCell;
  size_t in_use_ = 0;
};

/// Cells in the order in which they came, linked through OpCell::next.
class CellList {
 public:
  bool empty() const noexcept { return head_ == kNoCell; }
  void push(CellPool& cells, OpCell& cell) noexcept {
    cell.next = kNoCell;
    (head_ == kNoCell ? head_ : cells[tail_].next) = cell.index;
    tail_ = cell.index;
  }
  void push_front(OpCell& cell) noexcept {
    cell.next = head_;
    if (head_ == kNoCell) tail_ = cell.index;
    head_ = cell.index;
  }
  OpCell& pop(CellPool& cells) noexcept {
    OpCell& cell = cells[head_];
    head_ = cell.next;
    return cell;
  }

 private:
  uint32_t head_ = kNoCell;
  uint32_t tail_ = kNoCell;
};

}  // namespace railshmem
