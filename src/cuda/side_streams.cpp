// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/copy_fan.h"

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

Result CopyFan::copy(const Chain& chain, Stream stream) noexcept {
  for (const DeviceCopy& one : chain) {
    const Result result = gpu_.driver().copy_async(address_of(one.to), address_of(one.from), one.nbytes, stream);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

Result CopyFan::give(const Work& first, std::span<const Chain> chains, const Work& beside, Stream stream) noexcept {
  const Driver& driver = gpu_.driver();
  const size_t width = width_of(chains) + (beside ? 1 : 0);
  if (width == 0) {
    const Result result = first ? first(stream) : kSuccess;
    return result != kSuccess || chains.empty() ? result : copy(chains[0], stream);
  }
  uint64_t capture = 0;
  int status = kCapturingNot;
  if (tells_captures_) {
    const Result result = driver.capture_info(stream, &status, &capture, nullptr, nullptr, nullptr);
    if (result != kSuccess) return result;
  }
  const std::lock_guard lock(mutex_);
  Set* set = nullptr;
  const Result found = find_set(status == kCapturing ? capture : 0, width, &set);
  return found == kSuccess ? give_all(*set, first, chains, beside, stream) : found;
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

/// Streams [begin, end) of the set wait for what the stream has been given.
Result CopyFan::fork(Set& set, size_t begin, size_t end, Stream stream) noexcept {
  if (begin == end) return kSuccess;
  const Driver& driver = gpu_.driver();
  Result result = driver.event_record(set.fork, stream);
  for (size_t i = begin; i < end && result == kSuccess; ++i)
    result = driver.stream_wait_event(set.streams[i], set.fork, 0);
  return result;
}

/// The stream waits for streams [begin, end) of the set.
Result CopyFan::join(Set& set, size_t begin, size_t end, Stream stream) noexcept {
  const Driver& driver = gpu_.driver();
  Result result = kSuccess;
  for (size_t i = begin; i < end && result == kSuccess; ++i) {
    result = driver.event_record(set.joins[i], set.streams[i]);
    if (result == kSuccess) result = driver.stream_wait_event(stream, set.joins[i], 0);
  }
  return result;
}

/// `beside` has the stream behind those of the copies, which nothing else is given meanwhile.
Result CopyFan::give_all(Set& set, const Work& first, std::span<const Chain> chains, const Work& beside,
                         Stream stream) noexcept {
  const size_t own = width_of(chains), end = own + (beside ? 1 : 0);
  Result result = fork(set, own, end, stream);
  if (result == kSuccess && beside) result = beside(set.streams[own]);
  if (result == kSuccess && first) result = first(stream);
  if (result == kSuccess) result = give_chains(set, chains, stream);
  return result == kSuccess ? join(set, own, end, stream) : result;
}

Result CopyFan::give_chains(Set& set, std::span<const Chain> chains, Stream stream) noexcept {
  const size_t width = width_of(chains);
  Result result = fork(set, 0, width, stream);
  for (size_t i = 0; i < chains.size() && result == kSuccess; ++i) {
    const size_t lane = i % (width + 1);
    result = copy(chains[i], lane == 0 ? stream : set.streams[lane - 1]);
  }
  return result == kSuccess ? join(set, 0, width, stream) : result;
}

}  // namespace railshmem::cuda
