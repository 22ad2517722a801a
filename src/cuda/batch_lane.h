// SPDX-License-Identifier: BSD-3-Clause
// A stream of copies and of words stored behind them, which go to the driver many at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/cuda/copy_lane.h"

namespace railshmem::cuda {

/// What finds the stream idle goes at once; what comes while it is busy is collected until somebody asks for it, which
/// the proxy does once a turn. On an H200 a batch of 64 copies of up to 4 KiB takes 0.5 us a copy, single ones 2.4; and
/// a copy and a word in turn, 11 us a pair, because different engines do them. So: all copies, then all words.
///
/// One thread at a time. Nothing is allocated after construction. The calls need the device's context, but reached().
class BatchLane {
 public:
  /// Throws Error.
  explicit BatchLane(const DeviceContext& gpu);
  /// Gives the stream what was collected, and waits.
  ~BatchLane();
  BatchLane(const BatchLane&) = delete;

  /// Copies among each other are in no order. Returns a number, larger than those before it.
  uint64_t add(void* to, const void* from, size_t nbytes) noexcept;
  /// The same, and never at once: others are sure to follow, and wait().
  uint64_t collect(void* to, const void* from, size_t nbytes) noexcept;
  /// A copy of memory that batches may not know; at once.
  uint64_t start(void* to, const void* from, size_t nbytes) noexcept;
  /// Stores an aligned word of 8 bytes behind everything added so far; in the order of the calls. `kept` holds the
  /// value until then.
  uint64_t set(void* word, const uint64_t* kept) noexcept;
  /// Both, the word behind the copy.
  uint64_t add_then_set(void* to, const void* from, size_t nbytes, void* word, const uint64_t* kept) noexcept;

  /// Whether number `number` has happened. Never blocks. Makes the context current where it must.
  bool reached(uint64_t number) noexcept;
  /// The same as far as it is known, without asking.
  bool is_over(uint64_t number) const noexcept { return lane_.is_over(number); }
  /// Returns when everything has happened; ends the job when it does not in time.
  void wait() noexcept;

 private:
  static constexpr size_t kMost = 64;
  static constexpr size_t kMostBytes = 256 << 10;  // the engine would be idle for longer than the call takes

  bool idle() const noexcept { return lane_.is_over(lane_.started()) && copies_ + words_ == 0; }
  uint64_t last() const noexcept { return lane_.started() + copies_ + words_; }
  uint64_t store(void* word, const uint64_t* kept) noexcept;
  void flush() noexcept;

  const DeviceContext& gpu_;
  const bool batches_;       ///< the driver has batches of copies
  const bool stores_words_;  ///< streams store words; else copies do
  CopyLane lane_;
  std::array<Address, kMost> to_;  ///< of the first copies_
  std::array<Address, kMost> from_;
  std::array<size_t, kMost> nbytes_;
  std::array<StreamWordOp, kMost> word_ops_;  ///< of the first words_
  size_t copies_ = 0;
  size_t words_ = 0;
  size_t pending_bytes_ = 0;
  uint64_t give_from_ = 0;  ///< rough_clock() before which more may follow
};

}  // namespace railshmem::cuda
