// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/copy_fan.h"

#include <algorithm>

#include "src/cuda/context_guard.h"

namespace railshmem::cuda {

CopyFan::~CopyFan() {
  const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
  const Driver& driver = gpu_.driver();
  for (const auto& set : sets_) {
    for (const Stream stream : set->streams) gpu_.log_failure(driver.stream_destroy(stream), "cuStreamDestroy");
    for (const Event event : set->joins) gpu_.log_failure(driver.event_destroy(event), "cuEventDestroy");
    if (set->fork != nullptr) gpu_.log_failure(driver.event_destroy(set->fork), "cuEventDestroy");
  }
}

Result CopyFan::give(std::span<const DeviceCopy> copies, Stream stream) noexcept {
  const Driver& driver = gpu_.driver();
  if (copies.size() <= 1) {
    if (copies.empty()) return kSuccess;
    return driver.copy_async(address_of(copies[0].to), address_of(copies[0].from), copies[0].nbytes, stream);
  }
  uint64_t capture = 0;
  int status = kCapturingNot;
  if (tells_captures_) {
    const Result result = driver.capture_info(stream, &status, &capture, nullptr, nullptr, nullptr);
    if (result != kSuccess) return result;
  }
  const std::lock_guard lock(mutex_);
  Set* set = nullptr;
  const Result found =
      find_set(status == kCapturing ? capture : 0, std::min(copies.size() - 1, kMostStreams - 1), &set);
  return found == kSuccess ? use(*set, copies, stream) : found;
}

/// Whether nobody's capture holds the set.
bool CopyFan::is_free(const Set& set) const noexcept {
  int status = kCapturingNot;
  return set.capture == 0 ||
         (gpu_.driver().stream_capturing(set.streams[0], &status) == kSuccess && status == kCapturingNot);
}

Result CopyFan::find_set(uint64_t capture, size_t width, Set** found) noexcept {
  for (const auto& set : sets_) {
    if (set->streams.size() < width || (set->capture != capture && !is_free(*set))) continue;
    set->capture = capture;
    *found = set.get();
    return kSuccess;
  }
  const Driver& driver = gpu_.driver();
  Set& made = *sets_.emplace_back(std::make_unique<Set>());
  made.capture = capture;
  Result result = driver.event_create(&made.fork, kEventWithoutTiming);
  for (size_t i = 0; i < width && result == kSuccess; ++i) {
    result = driver.stream_create(&made.streams.emplace_back(nullptr), kStreamNonBlocking, kHighPriority);
    if (result == kSuccess) result = driver.event_create(&made.joins.emplace_back(nullptr), kEventWithoutTiming);
  }
  *found = &made;
  return result;
}

/// The program's stream takes its share of the copies too.
Result CopyFan::use(Set& set, std::span<const DeviceCopy> copies, Stream stream) noexcept {
  const Driver& driver = gpu_.driver();
  const size_t width = std::min(copies.size() - 1, set.streams.size());
  Result result = driver.event_record(set.fork, stream);
  for (size_t i = 0; i < width && result == kSuccess; ++i)
    result = driver.stream_wait_event(set.streams[i], set.fork, 0);
  for (size_t i = 0; i < copies.size() && result == kSuccess; ++i) {
    const size_t lane = i % (width + 1);
    result = driver.copy_async(address_of(copies[i].to), address_of(copies[i].from), copies[i].nbytes,
                               lane == 0 ? stream : set.streams[lane - 1]);
  }
  for (size_t i = 0; i < width && result == kSuccess; ++i) {
    result = driver.event_record(set.joins[i], set.streams[i]);
    if (result == kSuccess) result = driver.stream_wait_event(stream, set.joins[i], 0);
  }
  return result;
}

}  // namespace railshmem::cuda
