// SPDX-License-Identifier: BSD-3-Clause
// Copiers for a GPU that the program chooses after the network has started.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/plugin/copier.h"

namespace railshmem {

/// What make() gives copies nothing until bind(): before that no memory exists that would need it, and memory of a GPU
/// that the program has allocated itself is not known as such. Outlives its copiers.
class LateCopiers {
 public:
  std::unique_ptr<Copier> make(const BounceMemory& bounce) {
    auto copier = std::make_unique<Late>(*this, bounce);
    late_.push_back(copier.get());
    return copier;
  }

  /// Once. The copiers are in use by other threads only for memory that its caller has not handed out yet.
  void bind(const MakeCopier& make_copier) {
    for (Late* const late : late_) {
      late->real = make_copier(late->bounce);
      // release: pairs with real_one(); without it a thread could see the copier before what it consists of.
      late->bound.store(late->real.get(), std::memory_order_release);
    }
  }

 private:
  class Late final : public Copier {
   public:
    Late(LateCopiers& all, const BounceMemory& memory) : bounce(memory), all_(all) {}
    ~Late() override { std::erase(all_.late_, this); }

    Ticket start(std::byte* to, const std::byte* from, size_t nbytes) noexcept override {
      return real_one().start(to, from, nbytes);
    }
    Ticket start_then_set(std::byte* to, const std::byte* from, size_t nbytes, std::byte* word,
                          uint64_t value) noexcept override {
      return real_one().start_then_set(to, from, nbytes, word, value);
    }
    bool finished(Ticket ticket) noexcept override { return real_one().finished(ticket); }
    bool alone_reaches(const std::byte* place) noexcept override {
      Copier* const copier = bound.load(std::memory_order_acquire);
      return copier != nullptr && copier->alone_reaches(place);
    }
    void amos(std::span<WordAmo> amos) noexcept override { real_one().amos(amos); }

    const BounceMemory bounce;
    std::unique_ptr<Copier> real;
    std::atomic<Copier*> bound{nullptr};

   private:
    Copier& real_one() noexcept { return *bound.load(std::memory_order_acquire); }
    LateCopiers& all_;
  };

  std::vector<Late*> late_;
};

}  // namespace railshmem
