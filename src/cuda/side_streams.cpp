// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/side_streams.h"

#include "src/cuda/context_guard.h"

namespace railshmem::cuda {

SideStreams::~SideStreams() {
  const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
  const Driver& driver = gpu_.driver();
  for (const auto& side : sides_) {
    if (side->stream != nullptr) gpu_.log_failure(driver.stream_destroy(side->stream), "cuStreamDestroy");
    for (const Event event : {side->fork, side->join})
      if (event != nullptr) gpu_.log_failure(driver.event_destroy(event), "cuEventDestroy");
  }
}

Result SideStreams::copy(std::span<const DeviceCopy> copies, Stream stream) const noexcept {
  for (const DeviceCopy& one : copies) {
    const Result result = gpu_.driver().copy_async(address_of(one.to), address_of(one.from), one.nbytes, stream);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

Result SideStreams::give(const Work& work, const Work& beside, Stream stream) noexcept {
  if (!beside) return work(stream);
  uint64_t capture = 0;
  int status = kCapturingNot;
  if (reports_captures_) {
    const Result result = gpu_.driver().capture_info(stream, &status, &capture, nullptr, nullptr, nullptr);
    if (result != kSuccess) return result;
  }
  Side* side = nullptr;
  Result result = take(status == kCapturing ? capture : 0, &side);
  // Without the lock: the driver makes the caller wait while the queue of a stream is full.
  if (result == kSuccess) result = give_both(*side, work, beside, stream);
  const std::lock_guard lock(mutex_);
  side->taken = false;
  return result;
}

/// Whether nobody's capture holds it.
bool SideStreams::is_free(const Side& side) const noexcept {
  int status = kCapturingNot;
  return side.capture == 0 ||
         (gpu_.driver().stream_capturing(side.stream, &status) == kSuccess && status == kCapturingNot);
}

SideStreams::Side* SideStreams::find(uint64_t capture) noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& side : sides_) {
    if (side->taken || side->stream == nullptr || (side->capture != capture && !is_free(*side))) continue;
    side->capture = capture;
    side->taken = true;
    return side.get();
  }
  return nullptr;
}

/// Makes one where all are taken. `*found` is set also where the driver refuses.
Result SideStreams::take(uint64_t capture, Side** found) noexcept {
  if ((*found = find(capture)) != nullptr) return kSuccess;
  auto made = std::make_unique<Side>();
  *found = made.get();
  made->capture = capture;
  made->taken = true;
  const Driver& driver = gpu_.driver();
  Result result = driver.event_create(&made->fork, kEventWithoutTiming);
  if (result == kSuccess) result = driver.event_create(&made->join, kEventWithoutTiming);
  if (result == kSuccess) result = driver.stream_create(&made->stream, kStreamNonBlocking, kHighPriority);
  const std::lock_guard lock(mutex_);
  sides_.push_back(std::move(made));
  return result;
}

Result SideStreams::give_both(const Side& side, const Work& work, const Work& beside, Stream stream) const noexcept {
  const Driver& driver = gpu_.driver();
  Result result = driver.event_record(side.fork, stream);
  if (result == kSuccess) result = driver.stream_wait_event(side.stream, side.fork, 0);
  if (result == kSuccess) result = beside(side.stream);
  if (result == kSuccess) result = work(stream);
  if (result == kSuccess) result = driver.event_record(side.join, side.stream);
  return result == kSuccess ? driver.stream_wait_event(stream, side.join, 0) : result;
}

}  // namespace railshmem::cuda
