// SPDX-License-Identifier: BSD-3-Clause
#include "transports/loopback/receive_queue.h"

#include <sys/eventfd.h>

#include <cstring>

#include "src/base/error.h"

namespace railshmem::loopback {

ReceiveQueue::ReceiveQueue(size_t depth)
    : eventfd_(UniqueFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))),
      buffers_(new std::byte[depth * kMessageBytes]),
      waiting_(depth) {
  check_errno(eventfd_.get() >= 0, "eventfd");
  free_.reserve(depth);
  for (size_t i = depth; i-- > 0;) free_.push_back(static_cast<uint32_t>(i));
}

bool ReceiveQueue::put(const std::byte* bytes, size_t nbytes) noexcept {
  bool ring = false;
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return false;
    const uint32_t index = free_.back();
    free_.pop_back();
    std::memcpy(buffer(index), bytes, nbytes);
    waiting_[(head_ + arrived_) % waiting_.size()] = {index, static_cast<uint32_t>(nbytes)};
    ++arrived_;
    if (armed_) {
      armed_ = false;
      ring = signalled_ = true;
    }
  }
  if (ring) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(eventfd_.get(), &one, sizeof one);
  }
  return true;
}

size_t ReceiveQueue::take(std::span<Letter> letters) noexcept {
  const std::lock_guard lock(mutex_);
  if (signalled_) drain();
  size_t n = 0;
  for (; n < letters.size() && arrived_ > 0; ++n) {
    const Waiting& first = waiting_[head_];
    letters[n] = {buffer(first.buffer), first.nbytes, first.buffer};
    head_ = (head_ + 1) % waiting_.size();
    --arrived_;
  }
  return n;
}

void ReceiveQueue::give_back(uint32_t index) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(index);
}

bool ReceiveQueue::arm() noexcept {
  const std::lock_guard lock(mutex_);
  if (arrived_ > 0) return false;
  drain();  // also a count that put() wrote after take() had looked: it would cut every sleep short
  armed_ = true;
  return true;
}

void ReceiveQueue::drain() noexcept {
  uint64_t count;
  [[maybe_unused]] const ssize_t got = ::read(eventfd_.get(), &count, sizeof count);
  signalled_ = false;
}

}  // namespace railshmem::loopback
