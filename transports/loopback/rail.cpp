// SPDX-License-Identifier: BSD-3-Clause
#include "transports/loopback/rail.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "src/plugin/execute.h"

namespace railshmem::loopback {

LoopbackRail::LoopbackRail(const ExposedPes& pes, ReceiveQueue& inbox, size_t index, const Options& options)
    : pes_(&pes),
      inbox_(&inbox),
      index_(index),
      traits_{options.inject, options.max_write, kMessageBytes, true},
      has_wait_object_(options.has_wait_object),
      done_(options.depth),
      name_(options.rails == 1 ? "loopback" : "loopback " + std::to_string(index)) {}

Post LoopbackRail::write(const RailWrite& write) noexcept {
  if (full()) return Post::again;
  std::byte* const to = reach(write.to, write.nbytes);
  if (to == nullptr) return refuse(EACCES);
  copy_whole(to, write.local, write.nbytes);
  complete(write.slot);
  return Post::ok;
}

Post LoopbackRail::read(const RailRead& read) noexcept {
  if (full()) return Post::again;
  const std::byte* const from = reach(read.from, read.nbytes);
  if (from == nullptr) return refuse(EACCES);
  read_whole(read.local, from, read.nbytes);
  complete(read.slot);
  return Post::ok;
}

Post LoopbackRail::send(const RailSend& send) noexcept {
  if (send.slot != nullptr && full()) return Post::again;
  if (send.nbytes > kMessageBytes || (send.slot == nullptr && send.nbytes > traits_.inject)) return refuse(EMSGSIZE);
  ReceiveQueue& box = (*pes_)[static_cast<size_t>(send.to.pe)]->box(send.to.port, index_);
  if (!box.put(send.bytes, send.nbytes)) return Post::again;
  if (send.slot != nullptr) complete(send.slot);
  return Post::ok;
}

size_t LoopbackRail::poll(std::span<RailEvent> events) noexcept {
  size_t n = 0;
  for (; n < events.size() && first_ != last_; ++n)
    events[n] = {RailEvent::Kind::completed, 0, done_[first_++ % done_.size()], nullptr, 0, nullptr};
  std::array<ReceiveQueue::Letter, 16> letters;
  const size_t room = std::min(letters.size(), events.size() - n);
  const size_t arrived = room == 0 ? 0 : inbox_->take(std::span(letters).first(room));
  for (size_t i = 0; i < arrived; ++i)
    events[n++] = {RailEvent::Kind::message,
                   0,
                   nullptr,
                   letters[i].bytes,
                   letters[i].nbytes,
                   reinterpret_cast<void*>(static_cast<uintptr_t>(letters[i].buffer))};
  return n;
}

void LoopbackRail::release(const RailEvent& event) noexcept {
  inbox_->give_back(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(event.buffer)));
}

std::byte* LoopbackRail::reach(const Remote& remote, size_t nbytes) noexcept {
  const Segment& segment = (*pes_)[static_cast<size_t>(remote.pe)]->segments[static_cast<size_t>(remote.segment)];
  if (remote.offset > segment.nbytes || nbytes > segment.nbytes - remote.offset) return nullptr;
  return segment.base + remote.offset;
}

Post LoopbackRail::refuse(int error) noexcept {
  last_error_ = error;
  return Post::failed;
}

}  // namespace railshmem::loopback
