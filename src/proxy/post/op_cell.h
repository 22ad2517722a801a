// SPDX-License-Identifier: BSD-3-Clause
// An operation in flight, and how far it is. The addresses of cells travel through the provider.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/channel/channel.h"
#include "src/plugin/network.h"
#include "src/plugin/rail.h"
#include "src/proxy/post/net_context.h"
#include "src/proxy/post/operation.h"
#include "src/proxy/post/operation_state.h"

namespace railshmem {

inline constexpr uint32_t kNoCell = ~uint32_t{0};

inline void notify(bool* done) noexcept {
  // release: pairs with is_told(); the caller, who may not hold the endpoint, must see the data.
  if (done != nullptr) __atomic_store_n(done, true, __ATOMIC_RELEASE);
}
inline bool is_told(const bool& done) noexcept {
  return __atomic_load_n(&done, __ATOMIC_ACQUIRE);
}
/// Tells of an operation's end whoever is to hear of it.
[[gnu::always_inline]] inline void notify_end(const Outcome& outcome) noexcept {
  if (outcome.channel == nullptr) return notify(outcome.done);
  if (outcome.payload != 0) [[unlikely]]
    outcome.channel->free_payload(outcome.payload);
  outcome.channel->complete(outcome.ticket);
}

/// One operation, or one piece of a longer one (`parent` then names the operation's own cell).
struct OpCell : OpSlot {
  Operation what{OpKind::none, -1, 0};  ///< kind none: the cell is free
  // give() clears the fields from here up to `next` in two wide stores.
  void* fetch = nullptr;  ///< where a reply's value goes
  OperationState state;
  uint8_t fetch_width = 0;
  bool swallowed = false;      ///< GonePeers ends it; no rail knows it
  bool unordered = false;      ///< a request that may pass others: a piece of something longer
  bool lasting = false;        ///< goes on only if somebody polls; see Initiator::needs_polling()
  bool is_word = false;        ///< a put that WordOrder keeps in order
  SegmentId segment{};         ///< of the remote memory
  uint8_t rail = 0;            ///< that the operation, or its request, was posted on
  uint32_t parts_left = 0;     ///< events and holds until the operation is complete, not counting its answer
  uint32_t first_look = 0;     ///< of PathWatch at this request; 0: none yet
  uint32_t request_bytes = 0;  ///< length of the request in the cell's buffer; 0: a signal, made anew from the fields
  uint32_t parent = kNoCell;
  uint32_t next = kNoCell;  ///< in the free list, the outbox, or the list of signals waiting for room
  uint32_t index = 0;
  uint32_t issue = 0;          ///< of a put or get: the order in which they were issued
  uint64_t remote_offset = 0;  ///< of a put or get, or a piece of one
  std::byte* local = nullptr;
  Outcome outcome{};
  NetContext* context = nullptr;  ///< null: no context waits for this operation
  uint32_t previous = kNoCell;
  uint32_t sequence = 0;  ///< of a request
  uint64_t staging = 0;   ///< of a staged piece: its slot; of the whole: bytes of the source yet to be copied
  NetSignal signal{};     ///< of a put_signal whose signal is a message of its own or comes with a staged piece

  Remote remote() const noexcept { return {what.pe, segment, remote_offset}; }
  RailWrite write(bool more) noexcept { return {remote(), local, what.nbytes, this, more}; }
  RailRead read() noexcept { return {remote(), local, what.nbytes, this}; }
  /// True when the cell's event only says that the provider took a message over. The event of a write or read also says
  /// that the peer was reached.
  bool is_message() const noexcept { return what.kind == OpKind::answer || request_bytes > 0; }
  /// The signal goes when all parts of the data are complete, unless it goes earlier.
  void owes_signal(const NetSignal& what_signal) noexcept {
    state.on<Event::owe_signal>();
    signal = what_signal;
  }
};

}  // namespace railshmem
