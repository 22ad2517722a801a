// SPDX-License-Identifier: BSD-3-Clause
#include "src/executor/call_list.h"

#include "src/base/log.h"

namespace railshmem {

uint32_t CallList::add(const StreamedCollective& call, Lifetime lifetime) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.reserve(calls_.size() + 1);  // so that take() allocates nothing
    calls_.push_back({call, lifetime});
    free_.push_back(static_cast<uint32_t>(calls_.size()));
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  calls_[number - 1] = {call, lifetime};
  replayed_ += lifetime == Lifetime::replayed;
  return number;
}

StreamedCollective CallList::take(uint32_t number) noexcept {
  const std::lock_guard lock(mutex_);
  if (number == 0 || number > calls_.size())
    die("a stream asks for call %u of %zu that the library keeps: the program has overwritten the library's memory",
        number, calls_.size());
  const Kept& kept = calls_[number - 1];
  if (kept.lifetime == Lifetime::once) free_.push_back(number);
  return kept.call;
}

bool CallList::has_replayed() const noexcept {
  const std::lock_guard lock(mutex_);
  return replayed_ > 0;
}

}  // namespace railshmem
