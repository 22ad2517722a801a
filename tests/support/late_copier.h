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
    for (const Held& held : held_) copy(held.to, held.from, held.nbytes);
  }

  Ticket start(std::byte* to, const std::byte* from, size_t nbytes) noexcept override {
    held_.push_back({++last_, to, from, nbytes, static_cast<unsigned>(random_() % (latest_ + 1))});
    return last_;
  }
  bool finished(Ticket ticket) noexcept override {
    for (size_t i = 0; i < held_.size(); ++i) {
      Held& held = held_[i];
      if (held.ticket != ticket) continue;
      if (held.looks_left > 0) return --held.looks_left, false;
      copy(held.to, held.from, held.nbytes);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    std::abort();  // a ticket is good for one answer
  }
  bool alone_reaches(const std::byte* place) noexcept override {
    return reinterpret_cast<uintptr_t>(place) - reinterpret_cast<uintptr_t>(alone.data()) < alone.size();
  }
  size_t under_way() const noexcept { return held_.size(); }
  uint64_t started() const noexcept { return last_; }

  std::span<const std::byte> alone;  ///< plays memory of a GPU that the program allocated itself

 private:
  struct Held {
    Ticket ticket;
    std::byte* to;
    const std::byte* from;
    size_t nbytes;
    unsigned looks_left;
  };
  std::mt19937_64 random_;
  const unsigned latest_;
  Ticket last_ = 0;
  std::vector<Held> held_;
};

}  // namespace railshmem::test
