// SPDX-License-Identifier: BSD-3-Clause
// Any rail, on a bad day. Posts are refused, happen late and in any order, and fail; events come in any order; the rail
// is out for a while. Whatever the rail contract allows must not change a result.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "src/plugin/rail.h"
#include "tests/support/flaky_options.h"
#include "tests/support/outages.h"

namespace railshmem::test {

/// What the rails of a PE share.
struct BadDay {
  BadDay(const FlakyOptions& options, int pe, int npes) : outages(options, pe, npes, counts) {}
  FlakyCounts counts;
  Outages outages;
};

template <Rail R>
class FlakyRail {
 public:
  /// Rail number `index` of its port.
  FlakyRail(R& rail, const FlakyOptions& options, uint64_t seed, size_t index, BadDay& day)
      : rail_(&rail),
        options_(options),
        day_(&day),
        index_(index),
        post_random_(seed),
        poll_random_(seed + 1),
        traits_(rail.traits()),
        name_("flaky " + rail.name()),
        failures_left_(options.fail_one_in == 0 ? 0 : options.most_failures) {
    traits_.message_after_write &= options.message_after_write;
    traits_.write_after_write &= options.message_after_write;
    if (options.lie == Lie::overtakes) traits_.message_after_write = true;
    if (failures_left_ > 0) next_failure_ = failure_in();
  }

  const RailTraits& traits() const noexcept { return traits_; }

  Post write(const RailWrite& w) noexcept {
    if ((options_.lie == Lie::drops || options_.lie == Lie::early) && may_lie()) return lie(w);
    return post({Kind::write, {w.to.pe, Port::proxy}, w.to, const_cast<std::byte*>(w.local), w.nbytes, w.slot});
  }
  Post read(const RailRead& r) noexcept {
    return post({Kind::read, {r.from.pe, Port::proxy}, r.from, r.local, r.nbytes, r.slot});
  }
  Post send(const RailSend& s) noexcept {
    return post({Kind::send, s.to, {}, const_cast<std::byte*>(s.bytes), s.nbytes, s.slot});
  }

  size_t poll(std::span<RailEvent> events) noexcept {
    const bool out = day_->outages.is_out(index_);
    if (!out) happen_when_due();
    take_inner();
    if (out) return 0;
    size_t told = 0;
    for (size_t tries = late_.size(); tries > 0 && told < events.size(); --tries) {
      if (options_.delay_polls > 0 && poll_random_() % (2 * options_.delay_one_in) == 0) continue;
      const size_t pick = options_.delay_polls > 0 ? poll_random_() % late_.size() : 0;
      if (pick > 0) count(day_->counts.reordered);
      Late& late = late_[pick];
      events[told++] = late.event;
      static_cast<void>(late.bytes.release());  // release() below frees them
      late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    return told;
  }

  void release(const RailEvent& event) noexcept { delete[] static_cast<std::byte*>(event.buffer); }
  int last_error() const noexcept { return last_error_ != 0 ? last_error_ : rail_->last_error(); }
  int wait_fd() noexcept { return rail_->wait_fd(); }
  bool may_sleep() noexcept {
    return held_.empty() && late_.empty() && !day_->outages.is_out(index_) && rail_->may_sleep();
  }
  const std::string& name() const noexcept { return name_; }

  /// The rail is being closed: nothing of what was posted happens any more.
  void forget() noexcept {
    count(day_->counts.reopened);
    day_->counts.discarded.fetch_add(held_.size(), std::memory_order_relaxed);
    held_.clear();
    late_.clear();
    doomed_.clear();
    last_error_ = 0;
  }

 private:
  static constexpr size_t kDepth = 256;
  static constexpr int kLiePolls = 400;  ///< how late a write is under a lie
  enum class Kind : uint8_t { write, read, send };
  enum class Fate : uint8_t { happens, fails_afterwards, lie };
  struct Held {
    Kind kind;
    Endpoint to;
    Remote remote;
    std::byte* local;
    size_t nbytes;
    OpSlot* slot;
    Fate fate = Fate::happens;
    int polls_left = 0;
    std::vector<std::byte> copy{};

    void keep() { copy.assign(local, local + nbytes); }
    const std::byte* source() const noexcept { return copy.empty() ? local : copy.data(); }
  };
  struct Late {
    RailEvent event;
    std::unique_ptr<std::byte[]> bytes;  ///< of a message
  };

  // ---- posts -------------------------------------------------------------------------------------------------------

  Post post(Held held) noexcept {
    if (refuses()) {
      count(day_->counts.again);
      return Post::again;
    }
    if (held.kind != Kind::send && ++transfers_ == options_.fail_post)
      return fail(options_.failure == Failure::nameless_event ? nullptr : held.slot, options_.failure == Failure::post);
    day_->outages.at_post(index_);
    if (failures_left_ > 0 && --next_failure_ == 0) {
      --failures_left_;
      next_failure_ = failure_in();
      count(day_->counts.failed);
      const auto how = post_random_() % 3;
      if (how < 2 || held.slot == nullptr) return fail(held.slot, how == 1);
      held.fate = Fate::fails_afterwards;
    }
    if (day_->outages.is_out(index_)) count(day_->counts.held);
    held.polls_left = delay(held.kind);
    if (held.polls_left > 0) count(day_->counts.delayed);
    if (held.kind != Kind::read && held.nbytes <= traits_.inject) held.keep();
    held_.push_back(std::move(held));
    return Post::ok;
  }

  bool refuses() noexcept {
    if (held_.size() >= kDepth) return true;
    if (burst_left_ > 0) {
      --burst_left_;
      return true;
    }
    if (options_.again_one_in == 0 || post_random_() % options_.again_one_in != 0) return false;
    burst_left_ = static_cast<unsigned>(post_random_() % options_.longest_burst);
    return true;
  }
  int delay(Kind kind) noexcept {
    if (options_.lie == Lie::overtakes) return kind == Kind::write ? kLiePolls : 0;
    if (post_random_() % options_.delay_one_in != 0) return 0;
    return static_cast<int>(post_random_() % (options_.delay_polls + 1));
  }
  unsigned failure_in() noexcept { return 1 + static_cast<unsigned>(post_random_() % options_.fail_one_in); }

  Post fail(OpSlot* slot, bool at_once) noexcept {
    last_error_ = EIO;
    if (at_once) return Post::failed;
    late_.push_back({{RailEvent::Kind::failed, EIO, slot, nullptr, 0, nullptr}, nullptr});
    return Post::ok;
  }

  bool may_lie() noexcept { return post_random_() % options_.lie_one_in == 0; }
  Post lie(const RailWrite& w) noexcept {
    if (held_.size() >= kDepth) return Post::again;
    count(day_->counts.lies);
    late_.push_back({{RailEvent::Kind::completed, 0, w.slot, nullptr, 0, nullptr}, nullptr});
    if (options_.lie == Lie::drops) return Post::ok;
    lies_.push_back(std::make_unique<OpSlot>());
    Held held{Kind::write, {w.to.pe, Port::proxy}, w.to,      const_cast<std::byte*>(w.local),
              w.nbytes,    lies_.back().get(),     Fate::lie, kLiePolls};
    held.keep();
    held_.push_back(std::move(held));
    return Post::ok;
  }

  // ---- what really happens -----------------------------------------------------------------------------------------

  void happen_when_due() noexcept {
    for (size_t i = 0; i < held_.size();) {
      if (held_[i].polls_left > 0) --held_[i].polls_left;
      if (held_[i].polls_left > 0 || must_wait(i) || !happen(held_[i]))
        ++i;
      else
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  /// The rail promises an order, and something before the i-th has not happened yet.
  bool must_wait(size_t i) const noexcept {
    const Held& held = held_[i];
    if (options_.lie == Lie::overtakes) return false;
    if (held.kind == Kind::read || (held.kind == Kind::send && !traits_.message_after_write)) return false;
    if (held.kind == Kind::write && !traits_.write_after_write) return false;
    return std::any_of(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(i),
                       [&](const Held& earlier) { return earlier.kind == Kind::write && earlier.to.pe == held.to.pe; });
  }

  /// False when the inner rail has no room.
  bool happen(const Held& held) noexcept {
    Post posted = Post::failed;
    if (held.kind == Kind::write) posted = rail_->write({held.remote, held.source(), held.nbytes, held.slot, false});
    if (held.kind == Kind::read) posted = rail_->read({held.remote, held.local, held.nbytes, held.slot});
    if (held.kind == Kind::send) posted = rail_->send({held.to, held.source(), held.nbytes, held.slot});
    if (posted == Post::again) return false;
    if (posted == Post::failed)
      late_.push_back({{RailEvent::Kind::failed, rail_->last_error(), held.slot, nullptr, 0, nullptr}, nullptr});
    else if (held.fate == Fate::fails_afterwards)
      doomed_.push_back(held.slot);
    return true;
  }

  /// Messages are copied, so that the inner rail has all its buffers and lets in writes of peers, also during an
  /// outage: no such write may land later.
  void take_inner() noexcept {
    std::array<RailEvent, 16> events;
    const size_t n = rail_->poll(events);
    for (size_t i = 0; i < n; ++i) {
      RailEvent event = events[i];
      std::unique_ptr<std::byte[]> bytes;
      if (event.kind == RailEvent::Kind::message) {
        bytes = std::make_unique<std::byte[]>(event.nbytes);
        std::memcpy(bytes.get(), event.bytes, event.nbytes);
        rail_->release(event);
        event.bytes = bytes.get();
        event.buffer = bytes.get();
      } else if (std::erase_if(lies_, [&](const auto& slot) { return slot.get() == event.slot; }) > 0) {
        continue;  // it was told long ago
      } else if (std::erase(doomed_, event.slot) > 0) {
        event.kind = RailEvent::Kind::failed;
        event.error = EIO;
      }
      late_.push_back({event, std::move(bytes)});
    }
  }

  R* rail_;
  FlakyOptions options_;
  BadDay* day_;
  size_t index_;
  std::mt19937_64 post_random_;  ///< its choices do not depend on how often somebody polls
  std::mt19937_64 poll_random_;
  RailTraits traits_;
  std::string name_;
  unsigned failures_left_;
  unsigned next_failure_ = 0;  ///< posts until then
  unsigned burst_left_ = 0;
  std::vector<Held> held_;
  std::vector<Late> late_;
  std::vector<OpSlot*> doomed_;  ///< of operations that happen, and then are told to have failed
  std::vector<std::unique_ptr<OpSlot>> lies_;
  uint64_t transfers_ = 0;
  int last_error_ = 0;
};

}  // namespace railshmem::test
