// SPDX-License-Identifier: BSD-3-Clause
// A stream of copies that end in the order of their start, and its progress.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "src/cuda/device.h"
#include "src/cuda/pinned.h"

namespace railshmem::cuda {

/// The stream is the library's own and non-blocking: it does not wait for kernels of the program's streams, which may
/// be waiting for these very copies. One thread at a time. Nothing is allocated after construction.
///
/// An event, or a count in pinned memory that the stream writes, tells what has ended. Either is put behind all copies
/// so far when somebody asks, or by mark().
class CopyLane {
 public:
  /// What tells the end of copies. count: a look is a load and no call of the driver, and a count comes 1 us sooner
  /// than an event. But a stream that writes one behind each copy takes 1.8 us more for each, so counts are for
  /// batches. Where streams write no words of 8 bytes events tell.
  enum class EndBy : uint8_t { event, count };

  /// Throws Error. `patience_ns` is how long wait() and the destructor wait for the copy engine.
  explicit CopyLane(const DeviceContext& gpu, EndBy end = EndBy::event, uint64_t patience_ns = kPatience);
  CopyLane(const CopyLane&) = delete;
  /// Waits for the copies under way. When they do not end in time, a message says so and the stream is left behind.
  ~CopyLane();

  /// Returns the copy's number: 1, 2, 3... Ends the job when the driver refuses. Needs the device's context.
  uint64_t start(void* to, const void* from, size_t nbytes) noexcept;
  /// Starts copies in no order among each other, by one call of the driver (Calls::batches). Returns the number of the
  /// last copy.
  uint64_t start_all(Address* to, Address* from, size_t* nbytes, size_t copies) noexcept;
  /// Stores words, in this order, behind all earlier copies, and marks. Each word counts as a copy. Only of a lane that
  /// counts. The last place of `words` is for the mark; the caller leaves it free.
  uint64_t store_words(std::span<StreamWordOp> words) noexcept;
  uint64_t fill(void* to, unsigned char value, size_t nbytes) noexcept;
  /// Starts what `give(stream)` puts into the stream, which counts as a copy. `call`: the driver's function.
  template <class Give>
  uint64_t start_other(const char* call, Give&& give) noexcept {
    return count(give(stream_), call);
  }
  /// Whether copy `number`, and so every earlier copy, has ended. Never blocks. Makes the context current where it
  /// must. Right after a start it returns false without asking: more copies may follow, and one event then serves them
  /// all.
  bool reached(uint64_t number) noexcept;
  /// Whether copy `number` is known to have ended, without asking the driver.
  bool is_over(uint64_t number) const noexcept { return number <= done_; }
  /// Makes the end of everything so far known as soon as it comes, although nobody asks yet.
  void mark() noexcept;
  uint64_t started() const noexcept { return started_; }
  /// Returns when all copies have ended; ends the job when they do not in time. Needs the device's context.
  void wait() noexcept;

  static constexpr uint64_t kPatience = 60'000'000'000;  // copies of all of a GPU's memory by 8 PEs take 25 s

 private:
  static constexpr size_t kMarks = 32;
  struct Mark {
    Event event = nullptr;
    uint64_t last = 0;
  };

  bool counts() const noexcept { return ended_.has_value(); }
  StreamWordOp mark_op() const noexcept;
  void give_marked(std::span<StreamWordOp> words) noexcept;
  bool has_counted(uint64_t number) noexcept;
  void ask() noexcept;
  void look() noexcept;
  uint64_t count(Result result, const char* call, uint64_t copies = 1) noexcept;
  Result settle() noexcept;
  void destroy(bool stream_too) noexcept;

  const DeviceContext& gpu_;
  const uint64_t patience_ns_;
  std::optional<PinnedMemory> ended_;  ///< the number of the last copy that has ended; empty: events tell
  Stream stream_ = nullptr;
  std::array<Mark, kMarks> marks_;  ///< a ring: events are recorded in order, so they come in order
  size_t first_mark_ = 0;
  size_t marks_under_way_ = 0;
  uint64_t started_ = 0;
  uint64_t marked_ = 0;  ///< copies whose end is going to be known
  uint64_t done_ = 0;
  uint64_t look_from_ = 0;  ///< rough_clock() before which a question to the driver would be in vain
};

}  // namespace railshmem::cuda
