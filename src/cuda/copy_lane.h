// SPDX-License-Identifier: BSD-3-Clause
// A stream of copies that end in the order in which they were started, and how far it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/cuda/device.h"

namespace railshmem::cuda {

/// The stream is the library's own and non-blocking: it does not wait for kernels of the program's streams, which may
/// be waiting for these very copies. One thread at a time. Nothing is allocated after construction.
///
/// An event behind each large copy; behind small ones only when somebody asks, one for all that were started since.
class CopyLane {
 public:
  enum class Events : uint8_t { each, when_asked };

  /// Throws Error. `patience_ns` is how long wait() and the destructor wait for the copy engine.
  explicit CopyLane(const DeviceContext& gpu, Events events = Events::when_asked, uint64_t patience_ns = kPatience);
  CopyLane(const CopyLane&) = delete;
  /// Waits for the copies under way. When they do not end in time it says so and leaves the stream behind.
  ~CopyLane();

  /// Returns the copy's number: 1, 2, 3... Ends the job when the driver refuses. Needs the device's context.
  uint64_t start(void* to, const void* from, size_t nbytes) noexcept;
  uint64_t fill(void* to, unsigned char value, size_t nbytes) noexcept;
  /// Whether copy `number`, and so all before it, has ended. Never blocks. Makes the context current where it must.
  bool reached(uint64_t number) noexcept;
  /// Returns when all copies have ended; ends the job when they do not in time. Needs the device's context.
  void wait() noexcept;

  static constexpr uint64_t kPatience = 60'000'000'000;  // copies of all of a GPU's memory by 8 PEs take 25 s

 private:
  static constexpr size_t kMarks = 32;
  struct Mark {
    Event event = nullptr;
    uint64_t last = 0;
  };

  void mark() noexcept;
  void look() noexcept;
  uint64_t count(Result result, const char* call) noexcept;
  Result settle() noexcept;
  void destroy(bool stream_too) noexcept;

  const DeviceContext& gpu_;
  const Events events_;
  const uint64_t patience_ns_;
  Stream stream_ = nullptr;
  std::array<Mark, kMarks> marks_;  ///< a ring: recorded in order, so they come in order
  size_t first_mark_ = 0;
  size_t marks_under_way_ = 0;
  uint64_t started_ = 0;
  uint64_t marked_ = 0;  ///< copies that an event stands behind
  uint64_t done_ = 0;
  uint64_t looked_at_ = 0;  ///< rough_clock() of the last look in vain
};

}  // namespace railshmem::cuda
