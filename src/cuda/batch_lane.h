// SPDX-License-Identifier: BSD-3-Clause
// A stream of copies, and of words stored behind copies; both go to the driver many at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/cuda/copy_lane.h"

namespace railshmem::cuda {

/// A copy that finds the stream idle goes at once. Copies that come while the stream is busy are collected until
/// somebody asks for one, which the proxy does once a turn, and until the stream has at most one batch left: the more
/// there is to do, the larger are the batches. On an H200 a batch of 64 copies of up to 4 KiB takes 0.5 us
/// a copy, single copies take 2.4 us. Copy and word in turn take 11 us a pair, because different engines do them. So a
/// batch is all copies, then all words.
///
/// One thread at a time. Nothing is allocated after construction. All calls except reached() need the device's context.
class BatchLane {
 public:
  /// Throws Error.
  explicit BatchLane(const DeviceContext& gpu);
  /// Gives the collected copies to the stream, and waits.
  ~BatchLane();
  BatchLane(const BatchLane&) = delete;

  /// Adds a copy. Copies are in no order among each other. Returns a number, larger than all numbers before it.
  uint64_t add(void* to, const void* from, size_t nbytes) noexcept;
  /// Adds a copy that never goes at once: the caller adds more copies, then calls wait().
  uint64_t collect(void* to, const void* from, size_t nbytes) noexcept;
  /// Starts a copy at once, on its own: of memory that batches may not know.
  uint64_t start(void* to, const void* from, size_t nbytes) noexcept;
  /// Stores an aligned word of 8 bytes behind everything added so far. Words are stored in the order of the calls.
  /// `kept` must hold the value until the word is stored.
  uint64_t set(void* word, const uint64_t* kept) noexcept;
  /// Whether a word is stored at once, and sooner than a copy brings it. Copies are faster when there are many.
  bool stores_at_once() const noexcept { return stores_words_ && idle(); }
  /// Stores two words, in this order, in one trip. Only where the lane stores_at_once().
  uint64_t set_both(void* first, uint64_t first_value, void* second, uint64_t second_value) noexcept;
  /// Adds a copy, and behind it a word.
  uint64_t add_then_set(void* to, const void* from, size_t nbytes, void* word, const uint64_t* kept) noexcept;

  /// Whether copy or word `number` is complete. Never blocks. Makes the context current where it must.
  bool reached(uint64_t number) noexcept;
  /// Whether copy or word `number` is known to be complete, without asking the driver.
  bool is_over(uint64_t number) const noexcept { return lane_.is_over(number); }
  /// Returns when all copies and words are complete. Ends the job when they are not in time.
  void wait() noexcept;

 private:
  static constexpr size_t kMost = 64;
  static constexpr size_t kMostBytes = 256 << 10;  // to collect more idles the engine for longer than a call takes

  bool idle() const noexcept { return lane_.is_over(lane_.started()) && copies_ + words_ == 0; }
  uint64_t last() const noexcept { return lane_.started() + copies_ + words_; }
  uint64_t store(void* word, const uint64_t* kept) noexcept;
  static StreamWordOp write(void* word, uint64_t value) noexcept;
  void flush() noexcept;
  void note_given() noexcept;

  const DeviceContext& gpu_;
  const bool batches_;  ///< the driver has batches of copies
  const bool stores_words_;
  CopyLane lane_;
  std::array<Address, kMost> to_;  ///< of the first copies_
  std::array<Address, kMost> from_;
  std::array<size_t, kMost> nbytes_;
  std::array<StreamWordOp, kMost + 1> word_ops_;  ///< of the first words_; one more place for the lane's mark
  size_t copies_ = 0;
  size_t words_ = 0;
  size_t pending_bytes_ = 0;
  uint64_t give_from_ = 0;     ///< rough_clock() until which a batch waits for more
  uint64_t given_ = 0;         ///< the last copy or word of the newest batch that the stream has
  uint64_t given_before_ = 0;  ///< and of the batch before it
};

}  // namespace railshmem::cuda
