// SPDX-License-Identifier: BSD-3-Clause
// A rail to threads of this process: data is copied at once by who asks, completions and messages come by poll().
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "src/plugin/rail.h"
#include "src/plugin/segment.h"
#include "transports/loopback/receive_queue.h"

namespace railshmem::loopback {

/// What peers can reach of one PE. Shared by its fabric and those of its peers, whichever ends last.
struct ExposedPe {
  ExposedPe(size_t ports, size_t rails, size_t queue_depth) : boxes(ports) {
    for (auto& of_port : boxes)
      for (size_t r = 0; r < rails; ++r) of_port.push_back(std::make_unique<ReceiveQueue>(queue_depth));
  }
  ReceiveQueue& box(Port port, size_t r) noexcept { return *boxes[static_cast<size_t>(port)][r]; }

  std::array<Segment, kSegments> segments{};
  std::vector<std::vector<std::unique_ptr<ReceiveQueue>>> boxes;  ///< by port, by rail
};
using ExposedPes = std::vector<std::shared_ptr<ExposedPe>>;

struct Options {
  size_t max_write = size_t{1} << 30;
  size_t inject = 64;  ///< as tcp;ofi_rxm
  size_t depth = 256;  ///< operations whose completion was not yet polled, and messages per queue
  bool has_wait_object = true;
  size_t rails = 1;  ///< rail r of one PE talks to rail r of another
};

class LoopbackRail {
 public:
  /// Number `index` of its PE.
  LoopbackRail(const ExposedPes& pes, ReceiveQueue& inbox, size_t index, const Options& options);

  const RailTraits& traits() const noexcept { return traits_; }
  Post write(const RailWrite& write) noexcept;
  Post read(const RailRead& read) noexcept;
  Post send(const RailSend& send) noexcept;
  size_t poll(std::span<RailEvent> events) noexcept;
  void release(const RailEvent& event) noexcept;
  int last_error() const noexcept { return last_error_; }
  int wait_fd() const noexcept { return has_wait_object_ ? inbox_->fd() : -1; }
  bool may_sleep() noexcept { return first_ == last_ && inbox_->arm(); }
  const std::string& name() const noexcept { return name_; }

 private:
  std::byte* reach(const Remote& remote, size_t nbytes) noexcept;
  Post refuse(int error) noexcept;
  bool full() const noexcept { return last_ - first_ == done_.size(); }
  void complete(OpSlot* slot) noexcept { done_[last_++ % done_.size()] = slot; }

  const ExposedPes* pes_;
  ReceiveQueue* inbox_;
  size_t index_;
  RailTraits traits_;
  bool has_wait_object_;
  std::vector<OpSlot*> done_;  ///< a ring of completions that poll() has not delivered
  size_t first_ = 0;
  size_t last_ = 0;
  int last_error_ = 0;
  std::string name_;
};

static_assert(Rail<LoopbackRail>);

}  // namespace railshmem::loopback
