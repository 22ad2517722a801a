// SPDX-License-Identifier: BSD-3-Clause
// Work beside what a stream is given, on streams of the library's own.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "src/cuda/device.h"
#include "src/cuda/driver.h"
#include "src/plugin/device_access.h"

namespace railshmem::cuda {

/// Any number of threads. The work may be captured into the graph that the stream is captured into: a stream of ours
/// that takes part in a capture is not used elsewhere until that capture has ended.
class SideStreams {
 public:
  explicit SideStreams(const DeviceContext& gpu) : gpu_(gpu), reports_captures_(has(gpu.driver(), Calls::graphs)) {}
  SideStreams(const SideStreams&) = delete;
  ~SideStreams();

  /// Appends copies to a stream, one behind the other. The driver's word.
  Result copy(std::span<const DeviceCopy> copies, Stream stream) const noexcept;

  /// Appends work to a stream. Returns the driver's word.
  using Work = std::function<Result(Stream)>;
  /// Appends `work`. `beside`, which may be empty, begins with it on another stream, and what the stream is given next
  /// waits for both. Neither calls this function. The context is current.
  Result give(const Work& work, const Work& beside, Stream stream) noexcept;

 private:
  /// A stream that forks from one of the program and joins it again.
  struct Side {
    uint64_t capture = 0;  ///< that it was last used for; 0: none
    bool taken = false;    ///< a thread gives work to it
    Event fork = nullptr, join = nullptr;
    Stream stream = nullptr;
  };
  Result give_both(const Side& side, const Work& work, const Work& beside, Stream stream) const noexcept;
  Side* find(uint64_t capture) noexcept;
  Result take(uint64_t capture, Side** found) noexcept;
  bool is_free(const Side& side) const noexcept;

  const DeviceContext& gpu_;
  const bool reports_captures_;
  std::mutex mutex_;  ///< of the list and of what its sides say; nothing that waits is called with it
  std::vector<std::unique_ptr<Side>> sides_;
};

}  // namespace railshmem::cuda
