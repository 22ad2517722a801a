// SPDX-License-Identifier: BSD-3-Clause
// The data path: posting and polling. Opening and connecting are in rail_setup.cpp.
#include "transports/ofi/rail.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "src/base/cpu.h"
#include "transports/ofi/in_libfabric.h"

namespace railshmem::ofi {
namespace {

constexpr size_t kBatch = 16;  // entries per fi_cq_read: 512 B of stack, and one call per burst of small operations

// The event means "in the target's memory", which is what quiet promises; the default level of tcp only means
// "in the local socket".
constexpr uint64_t kWriteFlags = FI_COMPLETION | FI_DELIVERY_COMPLETE;

}  // namespace

Post Rail::write(const RailWrite& op) noexcept {
  if (outstanding_ >= max_outstanding_) return Post::again;
  uint64_t flags = kWriteFlags | (op.more ? FI_MORE : 0);
  void* desc = nullptr;
  if (is_on_device(op.local)) [[unlikely]] {
    if (const int error = describe_extent(op.local, op.nbytes, desc); error != 0) return fail(error);
  } else if (op.nbytes <= traits_.inject) {
    flags |= FI_INJECT;  // copied before the call returns, so it needs no registration either
  } else if (const int error = local_.describe(segments_, op.local, op.nbytes, op.slot, desc); error != 0) {
    return error == EAGAIN ? Post::again : fail(error);
  }
  const RemoteRegion& target = region(op.to);
  const iovec from{const_cast<std::byte*>(op.local), op.nbytes};
  const fi_rma_iov to{target.base + op.to.offset, op.nbytes, target.key};
  const fi_msg_rma message{&from, &desc, 1, peer(op.to.pe, Port::proxy), &to, 1, op.slot, 0};
  return posted((InLibfabric(), fi_writemsg(ep_.get(), &message, flags)), op.to.pe, op.slot);
}

Post Rail::read(const RailRead& op) noexcept {
  if (outstanding_ >= max_outstanding_) return Post::again;
  void* desc = nullptr;
  const bool on_device = is_on_device(op.local);
  if (const int error = on_device ? describe_extent(op.local, op.nbytes, desc)
                                  : local_.describe(segments_, op.local, op.nbytes, op.slot, desc);
      error != 0)
    return error == EAGAIN ? Post::again : fail(error);
  const RemoteRegion& source = region(op.from);
  const iovec to{op.local, op.nbytes};
  const fi_rma_iov from{source.base + op.from.offset, op.nbytes, source.key};
  const fi_msg_rma message{&to, &desc, 1, peer(op.from.pe, Port::proxy), &from, 1, op.slot, 0};
  return posted((InLibfabric(), fi_readmsg(ep_.get(), &message, FI_COMPLETION)), op.from.pe, op.slot);
}

Post Rail::send(const RailSend& op) noexcept {
  if (static_cast<size_t>(op.to.port) >= ports_ || op.nbytes > traits_.max_message) return fail(EINVAL);
  const fi_addr_t to = peer(op.to.pe, op.to.port);
  const bool copied = op.nbytes <= traits_.inject;
  if (!op.slot) {
    if (!copied) return fail(EINVAL);
    if (!quirks_.counts_messages)
      return posted((InLibfabric(), fi_inject(ep_.get(), op.bytes, op.nbytes, to)), op.to.pe, nullptr);
    if (outstanding_ >= max_outstanding_) return Post::again;
    const iovec whole{const_cast<std::byte*>(op.bytes), op.nbytes};
    const fi_msg message{&whole, nullptr, 1, to, &nobody_, 0};
    return posted((InLibfabric(), fi_sendmsg(ep_.get(), &message, FI_COMPLETION | copied_send_)), op.to.pe, &nobody_);
  }
  if (outstanding_ >= max_outstanding_) return Post::again;
  void* desc = nullptr;
  if (!copied) {
    const int error = local_.describe(segments_, op.bytes, op.nbytes, op.slot, desc);
    if (error != 0) return error == EAGAIN ? Post::again : fail(error);
  }
  const iovec from{const_cast<std::byte*>(op.bytes), op.nbytes};
  const fi_msg message{&from, &desc, 1, to, op.slot, 0};
  return posted((InLibfabric(), fi_sendmsg(ep_.get(), &message, FI_COMPLETION | (copied ? copied_send_ : 0))), op.to.pe,
                op.slot);
}

int Rail::describe_extent(const std::byte* local, size_t nbytes, void*& desc) const noexcept {
  for (const MemoryRegion& extent : extents_) {
    if (!extent.contains(local, nbytes)) continue;
    desc = extent.desc();
    return 0;
  }
  return EFAULT;  // what rails do not reach is staged
}

Post Rail::posted(ssize_t rc, int pe, const OpSlot* slot) noexcept {
  if (rc == 0) [[likely]] {
    outstanding_ += slot != nullptr;
    stuck_.accepted(pe);
    return Post::ok;
  }
  local_.forget(slot);
  return rc == -FI_EAGAIN ? refused(pe) : fail(static_cast<int>(-rc));
}

Post Rail::refused(int pe) noexcept {
  return stuck_.refused(pe, now_ns()) ? fail(ETIMEDOUT) : Post::again;
}

Post Rail::fail(int error) noexcept {
  last_error_ = error;
  return Post::failed;
}

size_t Rail::poll(std::span<RailEvent> events) noexcept {
  if (events.empty() || !is_open()) return 0;
  if (receives_.has_idle()) [[unlikely]] {
    if (const int error = receives_.retry(ep_.get()); error != 0) return poll_error(events[0], -error);
  }
  if (!drained_.empty()) [[unlikely]]
    return poll_drained(events);
  fi_cq_msg_entry entries[kBatch];
  const ssize_t n = (InLibfabric(), fi_cq_read(cq_.get(), entries, std::min(events.size(), kBatch)));
  if (n == -FI_EAGAIN || n == 0) return 0;
  if (n < 0) return poll_error(events[0], n);
  return hand_out(std::span(entries, static_cast<size_t>(n)), events);
}

/// The provider is called only when everything was told, so that all receive buffers are posted again.
size_t Rail::poll_drained(std::span<RailEvent> events) noexcept {
  if (drained_next_ == drained_end_) {
    const ssize_t n = (InLibfabric(), fi_cq_read(cq_.get(), drained_.data(), drained_.size()));
    if (n == -FI_EAGAIN || n == 0) return 0;
    if (n < 0) return poll_error(events[0], n);
    drained_next_ = 0;
    drained_end_ = static_cast<size_t>(n);
  }
  const size_t n = std::min(events.size(), drained_end_ - drained_next_);
  const size_t told = hand_out(std::span(drained_).subspan(drained_next_, n), events);
  drained_next_ += n;
  return told;
}

size_t Rail::hand_out(std::span<const fi_cq_msg_entry> entries, std::span<RailEvent> events) noexcept {
  size_t told = 0;
  for (const fi_cq_msg_entry& entry : entries) {
    if (entry.op_context == &nobody_) {
      --outstanding_;
      continue;
    }
    events[told++] = event_of(entry);
  }
  return told;
}

RailEvent Rail::event_of(const fi_cq_msg_entry& entry) noexcept {
  if (entry.flags & FI_RECV) {
    std::byte* bytes = receives_.buffer(receives_.index_of(entry.op_context));
    return {RailEvent::Kind::message, 0, nullptr, bytes, entry.len, bytes};
  }
  auto* slot = static_cast<OpSlot*>(entry.op_context);
  --outstanding_;
  local_.forget(slot);
  return {RailEvent::Kind::completed, 0, slot, nullptr, 0, nullptr};
}

size_t Rail::poll_error(RailEvent& event, ssize_t rc) noexcept {
  event = {RailEvent::Kind::failed, static_cast<int>(-rc), nullptr, nullptr, 0, nullptr};
  if (rc != -FI_EAVAIL) return 1;
  fi_cq_err_entry entry{};
  const ssize_t n = (InLibfabric(), fi_cq_readerr(cq_.get(), &entry, 0));
  if (n == -FI_EAGAIN || n == 0) return 0;  // it may come a moment after its announcement
  if (n < 0) {
    event.error = static_cast<int>(-n);
    return 1;
  }
  event = failure_of(entry);
  return 1;
}

RailEvent Rail::failure_of(const fi_cq_err_entry& entry) noexcept {
  const int error = entry.err == 0 ? EIO : std::abs(entry.err);  // shm gives negative codes
  RailEvent event{RailEvent::Kind::failed, error, nullptr, nullptr, 0, nullptr};
  // No context, or one that is not meaningful for an operation of a peer: the rail cannot say which operation it was.
  if (!entry.op_context || (entry.flags & (FI_REMOTE_READ | FI_REMOTE_WRITE))) return event;
  if (receives_.owns(entry.op_context)) {
    receives_.give_back(ep_.get(), receives_.index_of(entry.op_context));
    return event;
  }
  --outstanding_;
  if (entry.op_context == &nobody_) return event;  // a message without a slot
  event.slot = static_cast<OpSlot*>(entry.op_context);
  local_.forget(event.slot);
  return event;
}

void Rail::release(const RailEvent& message) noexcept {
  receives_.give_back(ep_.get(), receives_.index_of_buffer(message.buffer));
}

bool Rail::may_sleep() noexcept {
  if (wait_fd_ < 0 || receives_.has_idle()) return false;  // also while closed
  fid* queue = &cq_->fid;
  return (InLibfabric(), fi_trywait(fabric_.get(), &queue, 1)) == FI_SUCCESS;
}

}  // namespace railshmem::ofi
