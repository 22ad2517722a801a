// SPDX-License-Identifier: BSD-3-Clause
// Framed messages over a connected socket or a pair of pipes, without ever blocking.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>

#include "bootstrap/common/pack.h"
#include "src/base/unique.h"

namespace railshmem {

struct Frame {
  uint32_t kind = 0;
  Bytes payload;
};

class Stream {
 public:
  enum class State : uint8_t { open, closed, garbled };

  Stream() = default;
  /// Takes over a connected socket and makes it non-blocking and close-on-exec.
  explicit Stream(UniqueFd fd);
  /// Takes over two descriptors of any kind. A process that writes to a pipe must block or ignore SIGPIPE.
  Stream(UniqueFd in, UniqueFd out);

  int fd() const noexcept { return fd_.get(); }
  int output_fd() const noexcept { return out_ ? out_.get() : fd_.get(); }
  /// closed: the peer ended or the connection broke; garbled: the peer does not speak this protocol.
  State state() const noexcept { return state_; }
  bool open() const noexcept { return state_ == State::open; }
  /// Protects against strangers. A frame larger than `nbytes` makes the stream garbled, and a frame must be popped
  /// before more is read. So a peer that sends without end neither holds pump() nor fills the memory.
  void distrust(uint64_t nbytes) noexcept {
    frame_limit_ = nbytes;
    frames_ahead_ = 1;
  }
  void trust() noexcept {
    frame_limit_ = kAnyFrame;
    frames_ahead_ = kAnyNumber;
  }

  void push(uint32_t kind, Bytes payload = {});
  /// The payload is shared, because a launcher sends one payload to all PEs and must not hold a copy for each.
  void push(uint32_t kind, std::shared_ptr<const Bytes> payload);
  bool has_output() const noexcept { return !output_.empty(); }

  bool has_input() const noexcept { return !input_.empty(); }

  /// Writes as much as the socket takes and reads all that it has. Call pop() then: poll() does not tell of frames that
  /// were read already.
  void pump();
  /// Writes only: for a stream whose messages other code pops.
  void pump_output();
  std::optional<Frame> pop();
  /// pump() until everything is written or `seconds` have passed; for last words.
  void flush(double seconds) noexcept;
  /// Like flush(), but gives up only when the peer has taken nothing for `patience_s`. False: some output is left.
  bool deliver(double patience_s) noexcept;
  void close() noexcept;
  /// Closes the descriptors and touches nothing else: in a forked child all other members may be half-changed.
  void abandon() noexcept;

 private:
  struct Header {
    uint32_t magic;
    uint32_t kind;
    uint64_t nbytes;
  };
  struct Output {
    Header header;
    std::shared_ptr<const Bytes> payload;
    size_t sent;
  };
  static constexpr uint64_t kAnyFrame = uint64_t{1} << 40;
  static constexpr size_t kAnyNumber = ~size_t{0};
  static constexpr uint32_t kMagic = 0x4c494152;  // "RAIL"

  void read_some();
  void accept_header();
  void make_room();

  UniqueFd fd_;
  UniqueFd out_;  ///< empty: fd_ is a socket and serves both directions
  State state_ = State::closed;
  uint64_t frame_limit_ = kAnyFrame;
  size_t frames_ahead_ = kAnyNumber;
  std::deque<Output> output_;
  uint64_t written_ = 0;  ///< bytes in all
  std::deque<Frame> input_;
  Header header_{};
  size_t received_ = 0;  ///< bytes of the frame being read, header included
  Frame reading_;
};

}  // namespace railshmem
