// SPDX-License-Identifier: BSD-3-Clause
// A copier on a bad day: copies happen late and in any order. Until then both sides must stay as they are.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "src/plugin/host_copier.h"

namespace railshmem::test {

class LateCopier final : public HostCopier {
 public:
  /// Each copy happens at one of the next `latest` looks at it.
  explicit LateCopier(uint64_t seed, unsigned latest = 8) : random_(seed), latest_(latest) {}
  ~LateCopier() override {
    for (Held& held : held_) happen(held);
  }

  Ticket start(std::byte* to, const std::byte* from, size_t nbytes) noexcept override {
    return start_then_set(to, from, nbytes, nullptr, 0);
  }
  Ticket start_then_set(std::byte* to, const std::byte* from, size_t nbytes, std::byte* word,
                        uint64_t value) noexcept override {
    held_.push_back({++last_, to, from, nbytes, word, value, static_cast<unsigned>(random_() % (latest_ + 1))});
    return last_;
  }
  bool finished(Ticket ticket) noexcept override {
    for (size_t i = 0; i < held_.size(); ++i) {
      Held& held = held_[i];
      if (held.ticket != ticket) continue;
      if (held.looks_left > 0) return --held.looks_left, false;
      if (held.word != nullptr) happen_to(held.word, i);
      happen(held);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    std::abort();  // a ticket is good for one answer
  }
  bool alone_reaches(const std::byte* place) noexcept override {
    return reinterpret_cast<uintptr_t>(place) - reinterpret_cast<uintptr_t>(alone.data()) < alone.size();
  }
  void amos(std::span<WordAmo> amos) noexcept override {
    for (const WordAmo& amo : amos) happen_to(amo.word, held_.size());
    HostCopier::amos(amos);
    trips_ += 1;
  }
  /// Calls of amos().
  uint64_t trips() const noexcept { return trips_; }
  size_t under_way() const noexcept { return held_.size(); }
  uint64_t started() const noexcept { return last_; }

  std::span<const std::byte> alone;  ///< plays memory of a GPU that the program allocated itself

 private:
  struct Held {
    Ticket ticket;
    std::byte* to;
    const std::byte* from;
    size_t nbytes;
    std::byte* word;  ///< null: nothing is stored behind the copy
    uint64_t value;
    unsigned looks_left;
    bool has_happened = false;
  };
  static void happen(Held& held) noexcept {
    if (held.has_happened) return;
    held.has_happened = true;
    copy(held.to, held.from, held.nbytes);
    if (held.word != nullptr) execute_signal(reinterpret_cast<uint64_t*>(held.word), SignalOp::set, held.value);
  }
  /// What the first `before` would store to the word.
  void happen_to(const std::byte* word, size_t before) noexcept {
    for (size_t i = 0; i < before; ++i)
      if (held_[i].word == word) happen(held_[i]);
  }

  std::mt19937_64 random_;
  const unsigned latest_;
  Ticket last_ = 0;
  uint64_t trips_ = 0;
  std::vector<Held> held_;
};

}  // namespace railshmem::test
