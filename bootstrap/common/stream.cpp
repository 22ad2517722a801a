// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/common/stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "bootstrap/common/deadline.h"

namespace railshmem {
namespace {

bool would_block() noexcept {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

void make_private_and_non_blocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  check_errno(flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0, "fcntl(O_NONBLOCK)");
  check_errno(fcntl(fd, F_SETFD, FD_CLOEXEC) == 0, "fcntl(FD_CLOEXEC)");
}

}  // namespace

Stream::Stream(UniqueFd fd) : fd_(std::move(fd)), state_(State::open) {
  make_private_and_non_blocking(fd_.get());
}

Stream::Stream(UniqueFd in, UniqueFd out) : fd_(std::move(in)), out_(std::move(out)), state_(State::open) {
  make_private_and_non_blocking(fd_.get());
  make_private_and_non_blocking(out_.get());
}

void Stream::push(uint32_t kind, Bytes payload) {
  push(kind, std::make_shared<const Bytes>(std::move(payload)));
}

void Stream::push(uint32_t kind, std::shared_ptr<const Bytes> payload) {
  if (!open()) return;
  const Header header{kMagic, kind, payload->size()};
  output_.push_back({header, std::move(payload), 0});
}

void Stream::pump() {
  // Reading also after a write failed: the peer's last words may explain why it left.
  pump_output();
  if (fd_) read_some();
}

void Stream::pump_output() {
  while (open() && !output_.empty()) {
    Output& out = output_.front();
    const size_t header_left = sizeof(Header) - std::min(out.sent, sizeof(Header));
    const size_t payload_sent = out.sent - std::min(out.sent, sizeof(Header));
    iovec parts[2] = {{reinterpret_cast<char*>(&out.header) + (sizeof(Header) - header_left), header_left},
                      {const_cast<std::byte*>(out.payload->data()) + payload_sent, out.payload->size() - payload_sent}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t n = out_ ? writev(out_.get(), parts, 2) : sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && would_block()) return;
    if (n < 0) {
      output_.clear();
      return;  // read_some() finds out that the peer is gone
    }
    out.sent += static_cast<size_t>(n);
    written_ += static_cast<size_t>(n);
    if (out.sent == sizeof(Header) + out.payload->size()) output_.pop_front();
  }
}

void Stream::read_some() {
  while (open() && input_.size() < frames_ahead_) {
    const bool in_header = received_ < sizeof(Header);
    char* to = in_header ? reinterpret_cast<char*>(&header_) + received_
                         : reinterpret_cast<char*>(reading_.payload.data()) + (received_ - sizeof(Header));
    const size_t want = in_header ? sizeof(Header) - received_ : reading_.payload.size() + sizeof(Header) - received_;
    const ssize_t n = read(fd_.get(), to, want);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && would_block()) return;
    if (n <= 0) {
      state_ = State::closed;
      return;
    }
    received_ += static_cast<size_t>(n);
    if (received_ == sizeof(Header)) accept_header();
    if (!open() || received_ < sizeof(Header) + reading_.payload.size()) continue;
    if (reading_.payload.size() < header_.nbytes) {
      make_room();
    } else {
      input_.push_back(std::move(reading_));
      reading_ = Frame{};
      received_ = 0;
    }
  }
}

void Stream::accept_header() {
  if (header_.magic != kMagic || header_.nbytes > frame_limit_) {
    state_ = State::garbled;
    return;
  }
  reading_.kind = header_.kind;
  make_room();
}

/// Grows with what has come, because a header may announce more than ever comes, and more than there is memory.
void Stream::make_room() {
  constexpr size_t kFirst = 64 << 10;
  reading_.payload.resize(std::min<uint64_t>(header_.nbytes, std::max(kFirst, 2 * reading_.payload.size())));
}

std::optional<Frame> Stream::pop() {
  if (input_.empty()) return std::nullopt;
  Frame frame = std::move(input_.front());
  input_.pop_front();
  return frame;
}

void Stream::flush(double seconds) noexcept {
  const Deadline deadline(seconds);
  try {
    for (pump(); open() && has_output() && !deadline.passed(); pump()) {
      pollfd wait{output_fd(), POLLOUT, 0};
      poll(&wait, 1, deadline.slice_ms(kWaitSliceMs));
    }
  } catch (...) {  // out of memory while leaving: the words stay unsaid
    output_.clear();
  }
}

bool Stream::deliver(double patience_s) noexcept {
  const auto left = [this] { return open() && has_output(); };
  uint64_t before = 0;
  Deadline deadline(patience_s);
  for (flush(0); left() && !deadline.passed(); flush(0)) {
    if (written_ != before) deadline = Deadline(patience_s);
    before = written_;
    pollfd wait{output_fd(), POLLOUT, 0};
    poll(&wait, 1, deadline.slice_ms(1000));
  }
  return !left();
}

void Stream::abandon() noexcept {
  fd_.reset();
  out_.reset();
}

void Stream::close() noexcept {
  abandon();
  state_ = State::closed;
  output_.clear();
}

}  // namespace railshmem
