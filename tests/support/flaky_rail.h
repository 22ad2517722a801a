// SPDX-License-Identifier: BSD-3-Clause
// Flaky<F>: any fabric, on a bad day. Posts are refused at random, data arrives late, events come in any order, and the
// nth post fails. Whatever the rail contract allows must not change a result.
#pragma once

#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "src/plugin/network.h"
#include "src/plugin/rail.h"

namespace railshmem::test {

enum class Failure : uint8_t { event, nameless_event, post };

struct FlakyOptions {
  uint64_t seed = 1;
  unsigned again_one_in = 3;  ///< 0: never
  unsigned delay_polls = 8;   ///< polls until a write or read really happens, at most
  bool message_after_write = false;
  uint64_t fail_post = 0;  ///< the nth write or read of each host rail fails; 0: none
  Failure failure = Failure::event;
};

template <Rail R>
class FlakyRail {
 public:
  FlakyRail(R& rail, const FlakyOptions& options, uint64_t seed)
      : rail_(&rail), options_(options), random_(seed), traits_(rail.traits()), name_("flaky " + rail.name()) {
    traits_.message_after_write = options.message_after_write;
  }

  const RailTraits& traits() const noexcept { return traits_; }

  Post write(const RailWrite& w) noexcept {
    if (dice()) return Post::again;
    if (fails(w.slot)) return options_.failure == Failure::post ? Post::failed : Post::ok;
    Held held{w.to, const_cast<std::byte*>(w.local), w.nbytes, w.slot, true, {}, delay()};
    if (w.nbytes <= traits_.inject) held.copy.assign(w.local, w.local + w.nbytes);
    held_.push_back(std::move(held));
    return Post::ok;
  }
  Post read(const RailRead& r) noexcept {
    if (dice()) return Post::again;
    if (fails(r.slot)) return options_.failure == Failure::post ? Post::failed : Post::ok;
    held_.push_back({r.from, r.local, r.nbytes, r.slot, false, {}, delay()});
    return Post::ok;
  }
  Post send(const RailSend& s) noexcept {
    if (dice()) return Post::again;
    if (traits_.message_after_write) {
      for (size_t i = 0; i < held_.size();)
        if (held_[i].remote.pe != s.to.pe || !held_[i].is_write) {
          ++i;
        } else if (!happen(i)) {
          return Post::again;
        }
    }
    return rail_->send(s);
  }

  size_t poll(std::span<RailEvent> events) noexcept {
    for (size_t i = 0; i < held_.size();)
      if (held_[i].polls_left-- > 0 || !happen(i)) ++i;
    const size_t room = events.size();
    const size_t n = rail_->poll(events);
    for (size_t i = 0; i < n; ++i) late_.push_back(events[i]);
    size_t out = 0;
    for (size_t tries = late_.size(); tries > 0 && out < room; --tries) {
      const size_t pick = random_() % late_.size();
      if (options_.delay_polls > 0 && random_() % 2 == 0) continue;
      events[out++] = late_[options_.delay_polls > 0 ? pick : 0];
      late_.erase(late_.begin() + static_cast<long>(options_.delay_polls > 0 ? pick : 0));
    }
    return out;
  }

  void release(const RailEvent& event) noexcept { rail_->release(event); }
  int last_error() const noexcept { return last_error_ != 0 ? last_error_ : rail_->last_error(); }
  int wait_fd() noexcept { return rail_->wait_fd(); }
  bool may_sleep() noexcept { return held_.empty() && late_.empty() && rail_->may_sleep(); }
  const std::string& name() const noexcept { return name_; }

 private:
  struct Held {
    Remote remote;
    std::byte* local;
    size_t nbytes;
    OpSlot* slot;
    bool is_write;
    std::vector<std::byte> copy;
    int polls_left;
  };

  bool dice() noexcept { return options_.again_one_in != 0 && random_() % options_.again_one_in == 0; }
  int delay() noexcept { return static_cast<int>(random_() % (options_.delay_polls + 1)); }

  bool fails(OpSlot* slot) noexcept {
    if (++posts_ != options_.fail_post) return false;
    last_error_ = EIO;
    if (options_.failure != Failure::post)
      late_.push_back({RailEvent::Kind::failed, options_.failure == Failure::event ? -EIO : EIO,
                       options_.failure == Failure::event ? slot : nullptr, nullptr, 0, nullptr});
    return true;
  }

  /// The held operation really happens and leaves the list; false when the inner rail has no room.
  bool happen(size_t i) noexcept {
    Held& h = held_[i];
    const std::byte* const from = h.copy.empty() ? h.local : h.copy.data();
    const Post posted = h.is_write ? rail_->write({h.remote, from, h.nbytes, h.slot, false})
                                   : rail_->read({h.remote, h.local, h.nbytes, h.slot});
    if (posted == Post::again) return false;
    held_.erase(held_.begin() + static_cast<long>(i));
    return true;
  }

  R* rail_;
  FlakyOptions options_;
  std::mt19937_64 random_;
  RailTraits traits_;
  std::string name_;
  std::vector<Held> held_;
  std::vector<RailEvent> late_;
  uint64_t posts_ = 0;
  int last_error_ = 0;
};

template <Fabric F>
class Flaky {
 public:
  using RailType = FlakyRail<typename F::RailType>;

  /// Further arguments go to the fabric.
  template <class... Args>
  Flaky(const NetworkConfig& config, const FlakyOptions& options, Args&&... args)
      : fabric_(config, std::forward<Args>(args)...), options_(options), seed_(options.seed * 10000 + config.pe) {}

  std::vector<std::byte> attach(std::span<const Segment> segments) { return fabric_.attach(segments); }
  void connect(std::span<const std::vector<std::byte>> cards) {
    fabric_.connect(cards);
    for (auto& rail : fabric_.host_rails()) host_.emplace_back(rail, options_, seed_ + 100 * host_.size());
    FlakyOptions proxy_options = options_;
    proxy_options.fail_post = 0;
    for (auto& rail : fabric_.proxy_rails())
      proxy_.emplace_back(rail, proxy_options, seed_ + 500 + 100 * proxy_.size());
  }
  std::span<RailType> host_rails() noexcept { return host_; }
  std::span<RailType> proxy_rails() noexcept { return proxy_; }
  std::string describe() const { return "flaky " + fabric_.describe(); }

 private:
  F fabric_;
  FlakyOptions options_;
  uint64_t seed_;
  std::vector<RailType> host_;
  std::vector<RailType> proxy_;
};

}  // namespace railshmem::test
