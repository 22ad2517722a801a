// SPDX-License-Identifier: BSD-3-Clause
// A rail over Cables that behaves like a provider over TCP. Operations and acknowledgements that meet a pulled cable
// wait, in order, and go on when the cable is back, also long after others have given it up. Operations for an endpoint
// that was opened anew fail. Closing discards waiting operations.
#pragma once

#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/cables.h"

namespace railshmem::test {

struct CableOptions {
  bool message_after_write = true;
  /// A connection fails when its cable is out for this long: of its posted operations nobody knows whether they
  /// happened.
  std::chrono::milliseconds patience{1'000'000};
  /// The end at which a cable was pulled sees that; the other end does not.
  bool tells_link = false;
  /// Messages are complete when the socket has taken them over, and are gone if the connection fails.
  bool buffers_messages = false;
  /// A fault for tests on trial: a closed rail goes on sending what it holds.
  bool sends_after_close = false;
};

template <Rail R>
class CableRail {
 public:
  /// Which opening of each endpoint of its peers this rail talks to: see at().
  using Known = std::vector<uint32_t>;
  static constexpr size_t kPorts = ports_with(kMaxProxyThreads);
  static constexpr size_t at(Endpoint of) noexcept { return index_of(of, kPorts); }

  CableRail(R& inner, Cables& cables, Endpoint me, size_t r, Known& known, const CableOptions& options)
      : inner_(&inner), cables_(&cables), known_(&known), me_(me), r_(r), options_(options), traits_(inner.traits()) {
    traits_.message_after_write = options.message_after_write;
    name_ = "cable " + std::to_string(r);
    out_since_.assign(known.size() / kPorts, Clock::now());
  }

  const RailTraits& traits() const noexcept { return traits_; }
  Post write(const RailWrite& w) noexcept {
    return hold({Kind::write, {w.to.pe, Port::proxy}, w.to, const_cast<std::byte*>(w.local), w.nbytes, w.slot});
  }
  Post read(const RailRead& g) noexcept {
    return hold({Kind::read, {g.from.pe, Port::proxy}, g.from, g.local, g.nbytes, g.slot});
  }
  Post send(const RailSend& s) noexcept {
    return hold({Kind::send, s.to, {}, const_cast<std::byte*>(s.bytes), s.nbytes, s.slot});
  }

  size_t poll(std::span<RailEvent> events) noexcept {
    deliver(held_);
    deliver(undead_);
    take_inner();
    for (int pe = 0; pe < static_cast<int>(known_->size() / kPorts); ++pe) lose_patience(pe);
    size_t n = 0;
    for (size_t i = 0; i < arrived_.size() && n < events.size();) {
      const RailEvent& event = arrived_[i].event;
      if (event.kind == RailEvent::Kind::completed && !cables_->joined(me_.pe, arrived_[i].pe, r_)) {
        ++i;
        continue;
      }
      events[n++] = event;
      arrived_.erase(arrived_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return n;
  }
  void release(const RailEvent& event) noexcept { inner_->release(event); }
  int last_error() const noexcept { return inner_->last_error(); }
  int wait_fd() noexcept { return -1; }
  bool may_sleep() noexcept { return false; }
  const std::string& name() const noexcept { return name_; }

  /// Opens the endpoint anew; returns the number of this opening.
  uint32_t reopen() noexcept {
    CableEnd& end = cables_->end(me_, r_);
    const std::lock_guard lock(end.mutex);
    take_inner();
    for (const Arrived& each : arrived_)
      if (each.event.kind == RailEvent::Kind::message) inner_->release(each.event);
    arrived_.clear();
    peer_of_.clear();
    if (options_.sends_after_close) {
      for (Held& each : held_)
        if (each.kind != Kind::read) {
          each.keep();
          each.slot = nullptr;
          undead_.push_back(std::move(each));
        }
    }
    held_.clear();
    return ++end.generation;
  }

 private:
  static constexpr size_t kDepth = 256;
  using Clock = std::chrono::steady_clock;
  enum class Kind : uint8_t { write, read, send };
  struct Held {
    Kind kind;
    Endpoint to;
    Remote remote;
    std::byte* local;
    size_t nbytes;
    OpSlot* slot;
    uint32_t generation = 0;
    std::vector<std::byte> copy{};

    void keep() { copy.assign(source(), source() + nbytes); }
    const std::byte* source() const noexcept { return copy.empty() ? local : copy.data(); }
  };
  struct Arrived {
    RailEvent event;
    int pe;
  };

  uint32_t known(Endpoint of) const noexcept { return (*known_)[at(of)]; }

  Post hold(Held held) noexcept {
    if (held_.size() >= kDepth) return Post::again;
    held.generation = known(held.to);
    const bool is_taken = held.kind == Kind::send && options_.buffers_messages;
    if (held.kind != Kind::read && (held.nbytes <= traits_.inject || is_taken)) held.keep();
    if (is_taken && held.slot != nullptr) arrived_.push_back(taken(std::exchange(held.slot, nullptr)));
    held_.push_back(std::move(held));
    return Post::ok;
  }

  /// In order per peer, as far as cables reach.
  void deliver(std::deque<Held>& queue) noexcept {
    std::vector<bool> blocked(known_->size());
    for (size_t i = 0; i < queue.size();) {
      Held& held = queue[i];
      const size_t peer = at(held.to);
      if (blocked[peer] || !cables_->joined(me_.pe, held.to.pe, r_) || !arrives(held)) {
        blocked[peer] = true;
        ++i;
      } else {
        queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  /// Returns false where the peer has no room.
  bool arrives(Held& held) noexcept {
    CableEnd& end = cables_->end(held.to, r_);
    const std::lock_guard lock(end.mutex);
    if (held.generation != end.generation) {
      if (held.slot != nullptr) arrived_.push_back(failure(held.slot, held.to.pe));
      return true;
    }
    static thread_local OpSlot nobody;
    const bool needs_slot = held.kind != Kind::send || held.nbytes > traits_.inject;
    OpSlot* const slot = held.slot == nullptr && needs_slot ? &nobody : held.slot;
    Post posted = Post::failed;
    if (held.kind == Kind::write) {
      posted = inner_->write({held.remote, held.source(), held.nbytes, slot, false});
      if (posted == Post::ok) cables_->count_write(me_.pe, held.to.pe, r_);
    }
    if (held.kind == Kind::read) posted = inner_->read({held.remote, held.local, held.nbytes, slot});
    if (held.kind == Kind::send) posted = inner_->send({held.to, held.source(), held.nbytes, slot});
    if (posted != Post::ok) return false;
    if (held.slot != nullptr) peer_of_[held.slot] = held.to.pe;
    return true;
  }

  /// Ends the connections to `pe` if its cable, or this one, has been out for long.
  void lose_patience(int pe) noexcept {
    Clock::time_point& out_since = out_since_[static_cast<size_t>(pe)];
    const Clock::time_point now = Clock::now();
    if (cables_->joined(me_.pe, pe, r_)) out_since = now;
    if (now - out_since < options_.patience) return;
    out_since = now;
    for (size_t i = 0; i < held_.size();) {
      if (held_[i].to.pe != pe) {
        ++i;
        continue;
      }
      if (held_[i].slot != nullptr) arrived_.push_back(failure(held_[i].slot, pe));
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (Arrived& each : arrived_)
      if (each.pe == pe && each.event.kind == RailEvent::Kind::completed) each = failure(each.event.slot, pe);
  }
  Arrived taken(OpSlot* slot) const noexcept {
    return {{RailEvent::Kind::completed, 0, slot, nullptr, 0, nullptr}, me_.pe};
  }
  static Arrived failure(OpSlot* slot, int pe) noexcept {
    return {{RailEvent::Kind::failed, ETIMEDOUT, slot, nullptr, 0, nullptr}, pe};
  }

  void take_inner() noexcept {
    std::array<RailEvent, 16> events;
    while (const size_t n = inner_->poll(events))
      for (size_t i = 0; i < n; ++i) {
        if (events[i].kind == RailEvent::Kind::message) {
          arrived_.push_back({events[i], me_.pe});
          continue;
        }
        const auto found = peer_of_.find(events[i].slot);
        if (found == peer_of_.end()) continue;  // of an earlier life
        arrived_.push_back({events[i], found->second});
        peer_of_.erase(found);
      }
  }

  R* inner_;
  Cables* cables_;
  Known* known_;
  Endpoint me_;
  size_t r_;
  CableOptions options_;
  RailTraits traits_;
  std::string name_;
  std::deque<Held> held_;
  std::deque<Held> undead_;
  std::deque<Arrived> arrived_;
  std::vector<Clock::time_point> out_since_;  ///< by PE; now while the cables are plugged in
  std::map<const OpSlot*, int> peer_of_;      ///< of what has arrived and is not acknowledged
};

}  // namespace railshmem::test
