// SPDX-License-Identifier: BSD-3-Clause
// Messages that a target executes and answers: AMOs, signals, small put_signals, flags.
#pragma once

#include <cstring>
#include <span>

#include "src/plugin/execute.h"
#include "src/proxy/post/message_check.h"
#include "src/proxy/post/operation_table.h"
#include "src/proxy/post/outbox.h"

namespace railshmem {

template <Rail R>
class Requests {
 public:
  Requests(OperationTable<R>& table, int npes) : table_(table), outbox_(npes) {}
  Requests(const Requests&) = delete;

  Outbox& outbox() noexcept { return outbox_; }
  const Outbox& outbox() const noexcept { return outbox_; }
  bool may_send(int pe) const noexcept {
    return outbox_.has_room(pe, table_.cells()) && !table_.rails().paths.recovers(pe);
  }

  // ---- posts; where they return `again`, nothing happened ----------------------------------------------------------

  /// Sends an operation that travels as one message. Data goes inside the message. The context waits until the target
  /// has answered.
  Post issue(const Op& op) noexcept {
    OpCell* const cell = take({op.kind, op.remote.pe, op.nbytes});
    if (cell == nullptr) return Post::again;
    const Written message = write(op, *cell);
    return request(op.context, *cell, message.nbytes, message.answer, op.outcome);
  }

  /// One piece of a get, over any rail: `n` bytes from `at` on.
  Post get(const OpCell& whole, size_t at, size_t n) noexcept {
    const int pe = whole.what.pe;
    if (!outbox_.has_room(pe, table_.cells(), kWindow / 2)) return Post::again;  // others want to send, too
    OpCell* const cell = take({OpKind::get, pe, n});
    if (cell == nullptr) return Post::again;
    cell->parent = whole.index;
    cell->unordered = true;
    cell->fetch = whole.local + at;
    const GetMessage message{table_.headers.header(MessageKind::get, 0, 0, whole.segment, *cell, Answer::reply),
                             whole.remote_offset + at, static_cast<uint32_t>(n), 0};
    return request(nullptr, *cell, put_down(*cell, message).nbytes, Answer::reply, {});
  }

  /// Sends a request in the caller's cell, which the caller keeps. write(bytes) makes the message in the cell's buffer
  /// and returns its length.
  template <class Write>
  Post ask_from(OpCell& cell, Write&& write) noexcept {
    if (!may_send(cell.what.pe)) return Post::again;
    cell.sequence = outbox_.next(cell.what.pe);
    cell.request_bytes = static_cast<uint32_t>(write(table_.cells().buffer(cell)));
    const Post posted = send_anywhere(cell, false);
    if (posted == Post::ok) outbox_.add(table_.cells(), cell);
    return posted;
  }

  // ---- signals behind their data -----------------------------------------------------------------------------------

  /// Sends the signal right behind its data where the rail keeps a message behind earlier writes and all data went over
  /// this rail. A signal that finds no room now goes when the data is there. A signal that the rail cannot inject waits
  /// too: it would need a buffer, and the cell's buffer may hold the data.
  void follow_with_signal(OpCell& cell) noexcept {
    const RailTraits& traits = table_.rails().traits();
    const int pe = cell.what.pe;
    size_t r = cell.rail;
    if (table_.tuning.keeps_order) {
      if (!traits.message_after_write || traits.inject < sizeof(SignalMessage)) return;
      if (under_way(pe) && rail_for(pe) != r) return;
    } else {
      r = table_.rails().pick(pe);
    }
    if (may_send(pe)) post_signal(cell, r);
  }

  /// All data of `cell` is in the target's memory: its signal may go, over any rail.
  void signal_when_possible(OpCell& cell) noexcept {
    if (!waiting_.empty() || !post_deferred_signal(cell)) waiting_.push(table_.cells(), cell);
  }
  bool flush_signals() noexcept {
    bool moved = false;
    while (!waiting_.empty()) {
      OpCell& cell = waiting_.pop(table_.cells());  // popped before the post, which links the cell into another list
      if (!post_deferred_signal(cell)) {
        waiting_.push_front(cell);
        break;
      }
      moved = true;
    }
    return moved;
  }

  /// Requests to one PE that are under way together take one rail, so that they arrive in the order of the program. The
  /// standard demands this order only behind a fence, but programs that set a word twice rely on the second value.
  size_t rail_for(int pe) noexcept {
    const OpCell* const newest = outbox_.newest(pe, table_.cells());
    return newest != nullptr ? table_.rails().after(newest->rail, table_.rails().usable(pe)) : table_.rails().pick(pe);
  }

  /// Sends a request again that a rail lost, with its old number. It stays in the outbox.
  Post repeat(OpCell& cell) noexcept {
    if (cell.request_bytes == 0) {
      if (table_.rails().usable(cell.what.pe) == 0) return Post::again;
      cell.rail = static_cast<uint8_t>(table_.rails().pick(cell.what.pe));
      return send_signal(cell, cell.rail);
    }
    return send_anywhere(cell, false);
  }

  // ---- answers -----------------------------------------------------------------------------------------------------

  /// Takes an acknowledgement or reply, or data. The message has passed check_message(). Requests that it answers go to
  /// answered(cell). An answer to a request that was sent twice, and is answered already, changes nothing.
  template <class Answered>
  Flaw take_answer(const RailEvent& event, Answered&& answered) noexcept {
    const MessageHeader h = read_message<MessageHeader>(event.bytes);
    switch (h.kind) {
      case MessageKind::acknowledge:
        return take_acknowledgement(read_message<AcknowledgeMessage>(event.bytes), answered);
      case MessageKind::reply:
        return take_reply(h.pe, {h.cell, h.sequence, read_message<ReplyMessage>(event.bytes).value}, answered);
      case MessageKind::data:
        return take_data(h, {event.bytes + sizeof h, event.nbytes - sizeof h}, answered);
      case MessageKind::replies: {
        Flaw flaw = Flaw::none;
        for (uint32_t i = 0; i < h.cell; ++i) {
          const auto item = read_message<ReplyItem>(event.bytes + sizeof h + i * sizeof(ReplyItem));
          if (const Flaw one = take_reply(h.pe, item, answered); one != Flaw::none) flaw = one;
        }
        return flaw;
      }
      default:
        return Flaw::kind;
    }
  }

  /// The target has executed the request, which goes to answered(cell).
  template <class Answered>
  void settle(OpCell& cell, Answered&& answered) noexcept {
    if (cell.state.is_sent()) table_.rails().came(cell.rail);
    outbox_.remove(table_.cells(), cell);
    answered(cell);
  }

  void forget() noexcept {
    waiting_ = {};
    outbox_.clear();
  }

 private:
  /// The request of this PE that waits for an answer by `pe`. Null: it is answered already, or there was none.
  OpCell* awaiting(int pe, uint32_t index, uint32_t sequence) noexcept {
    if (index >= table_.cells().size()) return nullptr;
    OpCell& cell = table_.cells()[index];
    return cell.state.awaits_answer() && cell.sequence == sequence && cell.what.pe == pe ? &cell : nullptr;
  }
  /// What to say of an answer for which nothing waits.
  Flaw flaw_of_late(int pe, uint32_t index, uint32_t sequence) const noexcept {
    const bool was_sent = outbox_.may_miss(pe, sequence + 1);
    return index < table_.cells().size() && was_sent ? Flaw::none : Flaw::answer;
  }

  template <class Answered>
  Flaw take_acknowledgement(const AcknowledgeMessage& message, Answered&& answered) noexcept {
    const MessageHeader& h = message.header;
    if (!outbox_.may_miss(h.pe, h.sequence)) return Flaw::sequence;
    outbox_.acknowledge(table_.cells(), h.pe, h.sequence, message.executed,
                        [&](OpCell& cell) { settle(cell, answered); });
    return Flaw::none;
  }
  /// The value of an AMO that fetches, or of no width: the end of a staged get.
  template <class Answered>
  Flaw take_reply(int pe, const ReplyItem& reply, Answered&& answered) noexcept {
    OpCell* const cell = awaiting(pe, reply.cell, reply.sequence);
    if (cell == nullptr) return flaw_of_late(pe, reply.cell, reply.sequence);
    const bool fetches = cell->what.kind == OpKind::amo || cell->what.kind == OpKind::staged_piece;
    if (!fetches || cell->fetch == nullptr) return Flaw::answer;
    copy_whole(static_cast<std::byte*>(cell->fetch), reinterpret_cast<const std::byte*>(&reply.value),
               cell->fetch_width);
    settle(*cell, answered);
    return Flaw::none;
  }
  template <class Answered>
  Flaw take_data(const MessageHeader& h, std::span<const std::byte> data, Answered&& answered) noexcept {
    OpCell* const cell = awaiting(h.pe, h.cell, h.sequence);
    if (cell == nullptr) return flaw_of_late(h.pe, h.cell, h.sequence);
    const bool gets = cell->what.kind == OpKind::get || cell->what.kind == OpKind::staged_piece;
    if (!gets || cell->fetch == nullptr) return Flaw::answer;
    if (data.size() != cell->what.nbytes) return Flaw::length;
    copy_whole(static_cast<std::byte*>(cell->fetch), data.data(), data.size());
    settle(*cell, answered);
    return Flaw::none;
  }

  struct Written {
    size_t nbytes;
    Answer answer;
  };
  /// Writes the message of `op` into the cell's buffer.
  Written write(const Op& op, OpCell& cell) noexcept {
    const HeaderBuilder& head = table_.headers;
    const Remote& to = op.remote;
    switch (op.kind) {
      case OpKind::amo: {
        const bool fetches = amo_fetches(op.detail.amo.op);
        cell.fetch = fetches ? op.local : nullptr;
        cell.fetch_width = op.detail.amo.width;
        return put_down(
            cell, AmoMessage{head.header(MessageKind::amo, static_cast<uint8_t>(op.detail.amo.op), op.detail.amo.width,
                                         to.segment, cell, fetches ? Answer::reply : Answer::acknowledge),
                             to.offset, op.detail.amo.operand, op.detail.amo.compare});
      }
      case OpKind::flag: {
        // With several rails the target acknowledges the flag, because a rail may die with it. With one rail the flag
        // only keeps a cell until the provider has taken it over, because some providers send only while somebody polls
        // this endpoint.
        const Answer answer = table_.rails().single() ? Answer::none : Answer::acknowledge;
        return put_down(cell, FlagMessage{head.header(MessageKind::flag, 0, 8, to.segment, cell, answer), to.offset,
                                          op.detail.amo.operand});
      }
      case OpKind::signal:
        return put_down(cell, head.signal(op.detail.signal, cell));
      case OpKind::put_signal:
        return put_down(cell,
                        PutSignalMessage{head.header(MessageKind::put_signal, static_cast<uint8_t>(op.detail.signal.op),
                                                     8, op.detail.signal.segment, cell),
                                         op.detail.signal.offset,
                                         op.detail.signal.value,
                                         to.offset,
                                         static_cast<uint32_t>(op.nbytes),
                                         to.segment,
                                         {}},
                        op.local, op.nbytes);
      default: {  // staged_put: a short one, from memory that the CPU reads
        cell.segment = to.segment;
        cell.remote_offset = to.offset;
        return put_down(cell, head.staged(MessageKind::staged_put, cell), op.local, op.nbytes);
      }
    }
  }
  /// Puts a message and `nbytes` bytes of data into the cell's buffer.
  template <class M>
  Written put_down(OpCell& cell, const M& message, const std::byte* data = nullptr, size_t nbytes = 0) noexcept {
    std::byte* const bytes = table_.cells().buffer(cell);
    std::memcpy(bytes, &message, sizeof message);
    if (nbytes > 0) std::memcpy(bytes + sizeof message, data, nbytes);
    return {sizeof message + nbytes, message.header.answer};
  }

  OpCell* take(const Operation& what) noexcept {
    if (!may_send(what.pe)) return nullptr;
    OpCell* const cell = table_.cells().take(what);
    if (cell != nullptr) cell->sequence = outbox_.next(what.pe);
    return cell;
  }

  /// Sends the message in the cell's buffer over any rail that takes it. The cell stays until the target has answered.
  Post request(NetContext* context, OpCell& cell, size_t nbytes, Answer answer, const Outcome& outcome) noexcept {
    cell.request_bytes = static_cast<uint32_t>(nbytes);
    const Post posted = send_anywhere(cell, answer == Answer::none);
    if (posted != Post::ok) {
      if (posted == Post::again) table_.cells().give(cell);
      return posted;
    }
    table_.count_in(cell, cell.what, context, outcome);
    if (answer == Answer::none) return posted;
    outbox_.add(table_.cells(), cell);
    if (answer == Answer::acknowledge) {
      notify(cell.outcome.done);  // the caller's memory is not needed any more
      cell.outcome.done = nullptr;
    }
    return posted;
  }

  bool under_way(int pe) const noexcept { return outbox_.newest(pe, table_.cells()) != nullptr; }

  /// `evented`: leaves an event even when the rail copies it.
  Post send_anywhere(OpCell& cell, bool evented) noexcept {
    const int pe = cell.what.pe;
    const bool copied = cell.request_bytes <= table_.rails().traits().inject && !evented;
    const auto attempt = [&](size_t r) {
      cell.rail = static_cast<uint8_t>(r);
      const Post posted = table_.send(r, {pe, Port::proxy}, table_.cells().buffer(cell), cell.request_bytes,
                                      copied ? nullptr : &cell, cell.what);
      if (posted == Post::ok && !evented) table_.rails().expect(r);
      return posted;
    };
    if (cell.unordered) return table_.try_rails(pe, table_.rails().pick_for_long(pe), attempt);
    if (!under_way(pe)) return table_.try_rails(pe, table_.rails().pick(pe), attempt);
    return table_.rails().usable(pe) != 0 ? attempt(rail_for(pe)) : Post::again;
  }

  bool post_deferred_signal(OpCell& cell) noexcept {
    if (!may_send(cell.what.pe) || table_.rails().usable(cell.what.pe) == 0) return false;
    cell.rail = static_cast<uint8_t>(rail_for(cell.what.pe));
    return post_signal(cell, cell.rail);
  }

  bool post_signal(OpCell& cell, size_t r) noexcept {
    cell.sequence = outbox_.next(cell.what.pe);
    const Post posted = send_signal(cell, r);
    if (posted != Post::ok) return posted == Post::failed;  // on failed the signal is given up with everything else
    outbox_.add(table_.cells(), cell);
    return true;
  }

  Post send_signal(OpCell& cell, size_t r) noexcept {
    const SignalMessage message = table_.headers.signal(cell.signal, cell);
    const std::byte* bytes = reinterpret_cast<const std::byte*>(&message);
    OpCell* carrier = nullptr;
    if (sizeof message > table_.rails().traits().inject) {
      carrier = &cell;
      bytes = static_cast<std::byte*>(std::memcpy(table_.cells().buffer(cell), &message, sizeof message));
    }
    const Post posted = table_.send(r, {cell.what.pe, Port::proxy}, bytes, sizeof message, carrier, cell.what);
    if (posted == Post::ok) table_.rails().expect(cell.rail);
    return posted;
  }

  OperationTable<R>& table_;
  Outbox outbox_;
  CellList waiting_;  ///< signals that found no room
};

}  // namespace railshmem
