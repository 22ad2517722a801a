// SPDX-License-Identifier: BSD-3-Clause
// Stores of words that are under way: their values, which must stay until then, and in which stream each is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "src/cuda/pinned.h"

namespace railshmem::cuda {

/// Fixed capacity, oldest first. One thread at a time; nothing is allocated after construction.
class WordStores {
 public:
  /// Number `number` of lane `lane` stores to `word`.
  struct Store {
    const std::byte* word;
    uint64_t number;
    uint8_t lane;
  };

  /// Throws Error.
  explicit WordStores(const DeviceContext& gpu)
      : values_(gpu, kMost * sizeof(uint64_t)), stores_(std::make_unique<Store[]>(kMost)) {}

  bool empty() const noexcept { return first_ == next_; }
  bool full() const noexcept { return next_ - first_ == kMost; }
  const Store& oldest() const noexcept { return stores_[first_ % kMost]; }
  /// Forgets the oldest ones that over(store) says are there.
  template <class Over>
  void retire(Over&& over) noexcept {
    while (!empty() && over(oldest())) ++first_;
  }

  /// The newest store to `word`. All to one word are in one lane.
  std::optional<Store> find(const std::byte* word) const noexcept {
    for (uint64_t i = next_; i-- > first_;)
      if (stores_[i % kMost].word == word) return stores_[i % kMost];
    return std::nullopt;
  }

  /// Keeps the value of the next store, for its copy to read; add() must follow, and there must be room.
  const uint64_t* keep(uint64_t value) noexcept {
    uint64_t* const place = reinterpret_cast<uint64_t*>(values_.host()) + next_ % kMost;
    *place = value;
    return place;
  }
  void add(const Store& store) noexcept { stores_[next_++ % kMost] = store; }

 private:
  static constexpr uint64_t kMost = 512;  // more than a target has jobs

  PinnedMemory values_;
  std::unique_ptr<Store[]> stores_;
  uint64_t first_ = 0;  ///< positions only grow
  uint64_t next_ = 0;
};

}  // namespace railshmem::cuda
