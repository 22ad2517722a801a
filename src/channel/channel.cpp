// SPDX-License-Identifier: BSD-3-Clause
#include "src/channel/channel.h"

#include <algorithm>
#include <utility>

namespace railshmem {

namespace {
// Slots are freed when popped, not when finished, so more than a ring's worth may be in flight. Eight rings hide the
// latency of a slow network behind a full ring; the bitmap costs one bit each.
constexpr size_t kWindowPerSlot = 8;
}  // namespace

Channel::Channel(ChannelMemory memory)
    : memory_(std::move(memory)),
      ring_(memory_.slots, &memory_.consumer->consumed, memory_.log2_slots),
      finished_(std::max<size_t>(64, kWindowPerSlot << memory_.log2_slots)) {
  if (memory_.payloads.slots != nullptr) payloads_.emplace(memory_.payloads, memory_.consumer->freed);
}

std::optional<Command> Channel::peek() noexcept {
  std::optional<Command> command(std::in_place);
  if (!peek(*command)) command.reset();
  return command;
}

void Channel::publish() noexcept {
  if (payloads_freed_) [[unlikely]] {  // first: who sees a command finished finds its slot free
    payloads_freed_ = false;
    payloads_->publish();
  }
  if (published_ == finished_.prefix()) return;
  published_ = finished_.prefix();
  // release: pairs with the acquire in wait_completed(); without it the producer could read its get's destination
  // before the data, or reuse a source that is still being read.
  portable::store_release(&memory_.consumer->completed, published_);
}

void Channel::fail(ChannelStatus why) noexcept {
  // A release: pairs with the acquire in Waiter::turn(); without it what led to the failure may look undone there.
  portable::set_once(&memory_.consumer->error, static_cast<uint64_t>(why));
}

ChannelStatus Channel::status() const noexcept {
  return static_cast<ChannelStatus>(portable::load_acquire(&memory_.consumer->error));
}

// The handshake against a lost wake-up. The producer writes its slot, then exchanges the doorbell; the proxy exchanges
// the doorbell, then looks at the slot. The two exchanges are of one word, so one comes first: if the producer's, the
// proxy's acquires it and peek() sees the slot; if the proxy's, the producer gets the fd back and rings it.
bool Channel::arm(int eventfd) noexcept {
  // Nobody may wait through this sleep for something that is already so.
  ring_.publish();
  publish();
  // acq_rel: pairs with the exchange in wake_proxy(); with less, both sides could miss each other.
  portable::exchange(&doorbell_, static_cast<uint32_t>(eventfd) + 1);
  if (!ring_.peek()) return true;
  disarm();
  return false;
}

void Channel::disarm() noexcept {
  // acq_rel: as in arm(). A producer that took the fd just before still rings: one wake-up too many, never one too few.
  portable::exchange(&doorbell_, 0);
}

ChannelView Channel::view() noexcept {
  const RingView ring{memory_.slots,
                      &memory_.producer->head,
                      &memory_.producer->consumed_seen,
                      &memory_.consumer->consumed,
                      &memory_.consumer->error,
                      &doorbell_,
                      memory_.log2_slots};
  ChannelView view{ring, &memory_.consumer->completed, &memory_.producer->completed_seen};
  if (payloads_) payloads_->add_to(view);
  return view;
}

}  // namespace railshmem
