// SPDX-License-Identifier: BSD-3-Clause
// Copies of one stream that run at once, and a kernel beside them, on streams of the library's own.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "src/cuda/device.h"
#include "src/cuda/driver.h"
#include "src/plugin/device_access.h"

namespace railshmem::cuda {

/// Any number of threads. The copies may be captured into the graph that the stream is captured into: streams of ours
/// that take part in a capture are not used elsewhere until that capture has ended.
class CopyFan {
 public:
  explicit CopyFan(const DeviceContext& gpu) : gpu_(gpu), tells_captures_(has(gpu.driver(), Calls::graphs)) {}
  CopyFan(const CopyFan&) = delete;
  ~CopyFan();

  /// Copies one behind the other.
  using Chain = std::vector<DeviceCopy>;
  /// Appends chains that do not depend on each other to a stream. What the stream is given next waits for all of them.
  /// The context is current. The driver's word.
  Result give(std::span<const Chain> chains, Stream stream) noexcept { return give({}, chains, {}, stream); }

  /// Appends work to a stream. Returns the driver's word.
  using Work = std::function<Result(Stream)>;
  /// Appends `first`, and the chains behind it. `beside` begins with `first`, on a stream of its own, and what the
  /// stream is given next waits for it too. Either may be empty. Neither gives to this object.
  Result give(const Work& first, std::span<const Chain> chains, const Work& beside, Stream stream) noexcept;

 private:
  /// Streams that fork from one stream of the program and join it again.
  struct Set {
    uint64_t capture = 0;  ///< of the capture that it was last used for; 0: none
    Event fork = nullptr;
    std::vector<Stream> streams;
    std::vector<Event> joins;
  };
  Result copy(const Chain& chain, Stream stream) noexcept;
  Result give_all(Set& set, const Work& first, std::span<const Chain> chains, const Work& beside,
                  Stream stream) noexcept;
  Result give_chains(Set& set, std::span<const Chain> chains, Stream stream) noexcept;
  Result fork(Set& set, size_t begin, size_t end, Stream stream) noexcept;
  Result join(Set& set, size_t begin, size_t end, Stream stream) noexcept;
  Result find_set(uint64_t capture, size_t width, Set** found) noexcept;
  bool is_free(const Set& set) const noexcept;

  /// More copies at once than this give nothing: they share the engines and the links.
  static constexpr size_t kMostStreams = 4;
  /// Streams of ours that copies need: the program's stream takes its share of the chains too.
  static size_t width_of(std::span<const Chain> chains) noexcept {
    return chains.empty() ? 0 : std::min(chains.size(), kMostStreams) - 1;
  }

  const DeviceContext& gpu_;
  const bool tells_captures_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace railshmem::cuda
