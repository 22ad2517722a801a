// SPDX-License-Identifier: BSD-3-Clause
// Where one endpoint's messages arrive: a fixed number of buffers, filled by any thread, emptied by the endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "src/base/unique.h"

namespace railshmem::loopback {

inline constexpr size_t kMessageBytes = 4096;

class ReceiveQueue {
 public:
  explicit ReceiveQueue(size_t depth);

  /// False when all buffers are full.
  bool put(const std::byte* bytes, size_t nbytes) noexcept;

  struct Letter {
    const std::byte* bytes;
    size_t nbytes;
    uint32_t buffer;
  };
  /// Takes out what has arrived, oldest first; the buffers are the caller's until give_back().
  size_t take(std::span<Letter> letters) noexcept;
  void give_back(uint32_t buffer) noexcept;

  /// Readable from the first put() after arm() on.
  int fd() const noexcept { return eventfd_.get(); }
  /// False: something is here already.
  bool arm() noexcept;

 private:
  struct Waiting {
    uint32_t buffer;
    uint32_t nbytes;
  };
  std::byte* buffer(uint32_t index) noexcept { return buffers_.get() + index * kMessageBytes; }
  void drain() noexcept;

  UniqueFd eventfd_;
  std::unique_ptr<std::byte[]> buffers_;  // pages are touched at first use
  std::mutex mutex_;                      // guards what follows; held for one copy
  std::vector<uint32_t> free_;
  std::vector<Waiting> waiting_;  ///< a ring of `depth` entries
  size_t head_ = 0;
  size_t arrived_ = 0;
  bool armed_ = false;
  bool signalled_ = false;  ///< the eventfd holds a count
};

}  // namespace railshmem::loopback
