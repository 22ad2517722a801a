// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/batch_lane.h"

#include "src/base/cpu.h"
#include "src/cuda/context_guard.h"

namespace railshmem::cuda {
namespace {

constexpr uint64_t kMoreWithin = kRoughTicksPerUs;  // between what one turn of the proxy adds

}  // namespace

BatchLane::BatchLane(const DeviceContext& gpu)
    : gpu_(gpu),
      batches_(has(gpu.driver(), Calls::batches)),
      stores_words_(gpu.capabilities().words_of_64_bits),
      lane_(gpu, CopyLane::EndBy::count) {}

BatchLane::~BatchLane() {
  if (copies_ + words_ == 0) return;
  const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
  flush();
}

uint64_t BatchLane::add(void* to, const void* from, size_t nbytes) noexcept {
  if (!idle()) return collect(to, from, nbytes);
  start(to, from, nbytes);
  lane_.mark();
  note_given();
  return last();
}

uint64_t BatchLane::collect(void* to, const void* from, size_t nbytes) noexcept {
  if (!batches_) return start(to, from, nbytes);
  if (copies_ == kMost || (copies_ > 0 && pending_bytes_ + nbytes > kMostBytes)) flush();
  to_[copies_] = address_of(to);
  from_[copies_] = address_of(from);
  nbytes_[copies_] = nbytes;
  ++copies_;
  pending_bytes_ += nbytes;
  give_from_ = rough_clock() + kMoreWithin;
  return last();
}

uint64_t BatchLane::start(void* to, const void* from, size_t nbytes) noexcept {
  flush();
  return lane_.start(to, from, nbytes);
}

uint64_t BatchLane::set(void* word, const uint64_t* kept) noexcept {
  if (!stores_words_ || idle()) return store(word, kept);
  if (words_ == kMost) flush();
  word_ops_[words_++] = write(word, *kept);
  give_from_ = rough_clock() + kMoreWithin;
  return last();
}

uint64_t BatchLane::set_both(void* first, uint64_t first_value, void* second, uint64_t second_value) noexcept {
  std::array<StreamWordOp, 3> ops{write(first, first_value), write(second, second_value), {}};
  return lane_.store_words(ops);
}

uint64_t BatchLane::add_then_set(void* to, const void* from, size_t nbytes, void* word, const uint64_t* kept) noexcept {
  if (idle()) {
    start(to, from, nbytes);
    return store(word, kept);
  }
  collect(to, from, nbytes);
  return set(word, kept);
}

bool BatchLane::reached(uint64_t number) noexcept {
  if (is_over(number)) return true;
  if (number > lane_.started()) {
    // The counters of two sockets may differ a little; the difference is large then, and it goes.
    if (give_from_ - rough_clock() <= kMoreWithin || !lane_.reached(given_before_)) return false;
    const ContextGuard guard(gpu_);
    flush();
  }
  return lane_.reached(number);
}

StreamWordOp BatchLane::write(void* word, uint64_t value) noexcept {
  return {.op = WordOp::write_64, .address = address_of(word), .value = value};
}

void BatchLane::wait() noexcept {
  if (idle()) return;
  flush();
  lane_.wait();
}

uint64_t BatchLane::store(void* word, const uint64_t* kept) noexcept {
  flush();
  if (!stores_words_) return lane_.start(word, kept, sizeof *kept);
  std::array<StreamWordOp, 2> ops{write(word, *kept), {}};
  return lane_.store_words(ops);
}

void BatchLane::note_given() noexcept {
  given_before_ = given_;
  given_ = lane_.started();
}

void BatchLane::flush() noexcept {
  if (copies_ + words_ == 0) return;
  if (copies_ == 1) {
    lane_.start(reinterpret_cast<void*>(to_[0]), reinterpret_cast<const void*>(from_[0]), nbytes_[0]);
  } else if (copies_ > 1) {
    lane_.start_all(to_.data(), from_.data(), nbytes_.data(), copies_);
  }
  if (words_ > 0) {
    lane_.store_words({word_ops_.data(), words_ + 1});
  } else {
    lane_.mark();
  }
  copies_ = words_ = pending_bytes_ = 0;
  note_given();
}

}  // namespace railshmem::cuda
