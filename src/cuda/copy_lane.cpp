// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/copy_lane.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"

namespace railshmem::cuda {
namespace {

// Whoever asks for many tickets in a row gets one query's answer for all of them; a copy takes microseconds.
constexpr uint64_t kLookAgainAfter = kRoughTicksPerUs / 4;
constexpr uint64_t kFirstLookAfter = kRoughTicksPerUs;   // no copy has ended sooner, and the next start may be at hand
constexpr uint64_t kAskEvery = 1000 * kRoughTicksPerUs;  // where the stream counts: whether it has failed
constexpr uint64_t kSpinFor = 100'000;                   // longer than the copy of a few KiB
constexpr uint64_t kYieldFor = 5'000'000;                // a GiB takes 20 ms
constexpr timespec kNap{0, 50'000};

}  // namespace

CopyLane::CopyLane(const DeviceContext& gpu, EndBy end, uint64_t patience_ns) : gpu_(gpu), patience_ns_(patience_ns) {
  const Driver& driver = gpu.driver();
  need(driver, Calls::copies, "copies to and from a GPU");
  const ContextGuard guard(gpu);
  if (end == EndBy::count && gpu.capabilities().words_of_64_bits) ended_.emplace(gpu, sizeof(uint64_t));
  // Not the priority of the program's streams: streams of one priority share a few queues of the hardware, in which a
  // copy would wait behind kernels that wait for it.
  gpu.check(driver.stream_create(&stream_, kStreamNonBlocking, kHighPriority), "cuStreamCreateWithPriority");
  if (counts()) return;
  for (Mark& mark : marks_) {
    const Result result = driver.event_create(&mark.event, kEventWithoutTiming);
    if (result == kSuccess) continue;
    destroy(true);
    gpu.check(result, "cuEventCreate");
  }
}

CopyLane::~CopyLane() {
  const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
  const Result result = settle();
  if (result == kNotReady)
    log_error("copies of %s have not ended within %llu s; what they use is left behind", gpu_.description().c_str(),
              static_cast<unsigned long long>(patience_ns_ / 1'000'000'000));
  if (result != kNotReady) gpu_.log_failure(result, "cuStreamQuery");
  destroy(result != kNotReady);
  // The stream may write its count at any time, and to free the word could wait for it.
  if (result == kNotReady && counts()) g_process.kept.add(std::move(*ended_));
}

void CopyLane::destroy(bool stream_too) noexcept {
  const Driver& driver = gpu_.driver();
  for (const Mark& mark : marks_)
    if (mark.event != nullptr) gpu_.log_failure(driver.event_destroy(mark.event), "cuEventDestroy");
  if (stream_too) gpu_.log_failure(driver.stream_destroy(stream_), "cuStreamDestroy");
}

uint64_t CopyLane::start(void* to, const void* from, size_t nbytes) noexcept {
  return count(gpu_.driver().copy_async(address_of(to), address_of(from), nbytes, stream_), "cuMemcpyAsync");
}

uint64_t CopyLane::start_all(Address* to, Address* from, size_t* nbytes, size_t copies) noexcept {
  CopyAttributes attributes;
  size_t first = 0;
  return count(gpu_.driver().copy_batch_async(to, from, nbytes, copies, &attributes, &first, 1, stream_),
               "cuMemcpyBatchAsync", copies);
}

uint64_t CopyLane::store_words(std::span<StreamWordOp> words) noexcept {
  started_ += words.size() - 1;
  words.back() = mark_op();
  give_marked(words);
  return started_;
}

uint64_t CopyLane::fill(void* to, unsigned char value, size_t nbytes) noexcept {
  return count(gpu_.driver().fill_async(address_of(to), value, nbytes, stream_), "cuMemsetD8Async");
}

uint64_t CopyLane::count(Result result, const char* call, uint64_t copies) noexcept {
  if (result != kSuccess) gpu_.die_of(result, call);
  started_ += copies;
  look_from_ = rough_clock() + kFirstLookAfter;
  return started_;
}

StreamWordOp CopyLane::mark_op() const noexcept {
  return {.op = WordOp::write_64, .address = address_of(ended_->device()), .value = started_};
}

void CopyLane::give_marked(std::span<StreamWordOp> words) noexcept {
  const Result result = gpu_.driver().stream_word_ops(stream_, static_cast<unsigned>(words.size()), words.data(), 0);
  if (result != kSuccess) gpu_.die_of(result, "cuStreamBatchMemOp");
  marked_ = started_;
  look_from_ = rough_clock() + kAskEvery;
}

void CopyLane::mark() noexcept {
  if (marked_ == started_) return;
  if (counts()) {
    StreamWordOp op = mark_op();
    return give_marked({&op, 1});
  }
  if (marks_under_way_ == kMarks) return;  // whoever asks will come again, and there is room by then
  Mark& next = marks_[(first_mark_ + marks_under_way_) % kMarks];
  if (const Result result = gpu_.driver().event_record(next.event, stream_); result != kSuccess)
    gpu_.die_of(result, "cuEventRecord");
  next.last = marked_ = started_;
  ++marks_under_way_;
}

bool CopyLane::reached(uint64_t number) noexcept {
  if (number <= done_) return true;
  if (counts() && number <= marked_) return has_counted(number);
  // The counters of two sockets may differ a little; the difference then is large, and somebody looks.
  if (look_from_ - rough_clock() <= kFirstLookAfter) return false;
  const ContextGuard guard(gpu_);
  if (number > marked_) mark();
  if (counts()) return has_counted(number);
  look();
  return number <= done_;
}

bool CopyLane::has_counted(uint64_t number) noexcept {
  // acquire: pairs with the stream's write; without it what the copy brought could be read as it was before.
  const uint64_t ended = std::atomic_ref(*reinterpret_cast<uint64_t*>(ended_->host())).load(std::memory_order_acquire);
  done_ = std::max(done_, ended);
  if (number > done_ && look_from_ - rough_clock() > kAskEvery) ask();
  return number <= done_;
}

/// A stream that has failed counts no more.
void CopyLane::ask() noexcept {
  const ContextGuard guard(gpu_);
  const Result result = gpu_.driver().stream_query(stream_);
  if (result != kSuccess && result != kNotReady) gpu_.die_of(result, "a copy (cuStreamQuery)");
  look_from_ = rough_clock() + kAskEvery;
}

void CopyLane::look() noexcept {
  for (; marks_under_way_ > 0; --marks_under_way_) {
    const Mark& oldest = marks_[first_mark_];
    const Result result = gpu_.driver().event_query(oldest.event);
    if (result == kNotReady) break;
    if (result != kSuccess) gpu_.die_of(result, "a copy (cuEventQuery)");
    done_ = oldest.last;
    first_mark_ = (first_mark_ + 1) % kMarks;
  }
  look_from_ = rough_clock() + kLookAgainAfter;
}

void CopyLane::wait() noexcept {
  const Result result = settle();
  if (result == kSuccess) {
    done_ = started_;
    return;
  }
  if (result != kNotReady) gpu_.die_of(result, "a copy (cuStreamQuery)");
  die("a copy of %s has not ended within %llu s: its copy engines do not answer", gpu_.description().c_str(),
      static_cast<unsigned long long>(patience_ns_ / 1'000'000'000));
}

/// Success, kNotReady when time is over, or what failed.
Result CopyLane::settle() noexcept {
  const uint64_t began = now_ns();
  for (;;) {
    const Result result = gpu_.driver().stream_query(stream_);
    if (result != kNotReady) return result;
    const uint64_t waited = now_ns() - began;
    if (waited > patience_ns_) return kNotReady;
    if (waited < kSpinFor) {
      cpu_pause();
    } else if (waited < kYieldFor) {
      sched_yield();
    } else {
      nanosleep(&kNap, nullptr);
    }
  }
}

}  // namespace railshmem::cuda
