// SPDX-License-Identifier: BSD-3-Clause
// Copies of messages, in the order in which they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace railshmem {

/// Grows only while peers send faster than flushes end, and keeps its memory. Its size is bounded by what they may have
/// unanswered (kWindow per endpoint), so growth ends.
class HeldRequests {
 public:
  void prepare() { bytes_.reserve(kFirstCapacity); }

  bool empty() const noexcept { return count_ == 0; }
  uint64_t size() const noexcept { return count_; }

  void add(size_t rail, const std::byte* bytes, size_t nbytes) noexcept {
    const Head head{static_cast<uint32_t>(rail), static_cast<uint32_t>(nbytes)};
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof head + nbytes);
    std::memcpy(bytes_.data() + at, &head, sizeof head);
    std::memcpy(bytes_.data() + at + sizeof head, bytes, nbytes);
    ++count_;
  }
  /// `take(rail, bytes, nbytes)` for each; then none is left.
  template <class Take>
  void drain(Take&& take) noexcept {
    for (size_t at = 0; at < bytes_.size();) {
      Head head;
      std::memcpy(&head, bytes_.data() + at, sizeof head);
      take(head.rail, bytes_.data() + at + sizeof head, head.nbytes);
      at += sizeof head + head.nbytes;
    }
    bytes_.clear();
    count_ = 0;
  }
  void swap(HeldRequests& other) noexcept {
    bytes_.swap(other.bytes_);
    std::swap(count_, other.count_);
  }

 private:
  static constexpr size_t kFirstCapacity = size_t{64} << 10;
  struct Head {
    uint32_t rail;
    uint32_t nbytes;
  };

  std::vector<std::byte> bytes_;  ///< any alignment: messages are read by read_message()
  uint64_t count_ = 0;
};

}  // namespace railshmem
