// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/call_list.h"

#include <utility>

#include "src/base/log.h"

namespace railshmem {

uint32_t CallList::add(StreamedCollective call, Lifetime lifetime) {
  auto kept = std::make_shared<const StreamedCollective>(std::move(call));
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.reserve(calls_.size() + 1);  // so that take() and forget() allocate nothing
    calls_.emplace_back();
    free_.push_back(static_cast<uint32_t>(calls_.size()));
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  calls_[number - 1] = {std::move(kept), lifetime};
  replayed_ += lifetime == Lifetime::replayed;
  if (lifetime == Lifetime::once) coming_.push_back(number);
  return number;
}

std::shared_ptr<const StreamedCollective> CallList::take(uint32_t number, bool* in_turn) noexcept {
  const std::lock_guard lock(mutex_);
  if (number == 0 || number > calls_.size() || !calls_[number - 1].call)
    die("a stream asks for call %u, which the library does not keep: the program has overwritten the library's memory",
        number);
  Kept& kept = calls_[number - 1];
  if (in_turn) *in_turn = kept.lifetime == Lifetime::replayed || coming_.front() == number;
  if (kept.lifetime == Lifetime::replayed) return kept.call;
  std::erase(coming_, number);
  free_.push_back(number);
  return std::exchange(kept.call, nullptr);
}

void CallList::forget(uint32_t number) noexcept {
  const std::lock_guard lock(mutex_);
  calls_[number - 1].call = nullptr;
  free_.push_back(number);
  --replayed_;
}

bool CallList::has_replayed() const noexcept {
  const std::lock_guard lock(mutex_);
  return replayed_ > 0;
}

}  // namespace railshmem
