// SPDX-License-Identifier: BSD-3-Clause
// A rail that records what is posted and says what the test tells it to say.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "src/plugin/rail.h"

namespace railshmem::test {

class ScriptedRail {
 public:
  struct Posted {
    char what;  ///< 'w', 'r' or 's'
    Remote remote;
    Endpoint to;
    std::vector<std::byte> bytes;
    size_t nbytes;
    OpSlot* slot;
    bool more = false;  ///< of a write: the rail was told that another follows
    const std::byte* local = nullptr;
  };

  // ---- the script ----
  RailTraits shape{64, 1 << 20, 4096, false};
  int room = 1 << 30;  ///< posts until `again`
  int hung_pe = -1;    ///< posts to it find no room
  int failing = 0;     ///< the next so many posts fail
  bool looks = true;   ///< reads the written data; false: the data may be memory where the CPU faults
  std::vector<Posted> posted;
  std::deque<RailEvent> events;
  int released = 0;

  void complete(OpSlot* slot) { events.push_back({RailEvent::Kind::completed, 0, slot, nullptr, 0, nullptr}); }
  void fail(OpSlot* slot) { events.push_back({RailEvent::Kind::failed, 5, slot, nullptr, 0, nullptr}); }
  void complete_all_writes() {
    for (const Posted& p : posted)
      if (p.what == 'w') complete(p.slot);
  }
  template <class M>
  void deliver(const M& message) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&message);
    deliver_bytes({bytes, bytes + sizeof message});
  }
  void deliver_bytes(std::vector<std::byte> message) {
    messages_.push_back(std::move(message));
    const auto& bytes = messages_.back();
    events.push_back({RailEvent::Kind::message, 0, nullptr, bytes.data(), bytes.size(), nullptr});
  }
  int count(char what) const {
    int n = 0;
    for (const Posted& p : posted) n += p.what == what;
    return n;
  }

  // ---- the rail ----
  const RailTraits& traits() const noexcept { return shape; }
  Post write(const RailWrite& w) noexcept {
    return record(
        {'w', w.to, {}, looks ? copy(w.local, w.nbytes) : std::vector<std::byte>(), w.nbytes, w.slot, w.more, w.local});
  }
  Post read(const RailRead& r) noexcept { return record({'r', r.from, {}, {}, r.nbytes, r.slot, false, r.local}); }
  Post send(const RailSend& s) noexcept { return record({'s', {}, s.to, copy(s.bytes, s.nbytes), s.nbytes, s.slot}); }
  size_t poll(std::span<RailEvent> out) noexcept {
    size_t n = 0;
    for (; n < out.size() && !events.empty(); ++n) {
      out[n] = events.front();
      events.pop_front();
    }
    return n;
  }
  void release(const RailEvent&) noexcept { ++released; }
  int last_error() const noexcept { return 5; }
  int wait_fd() const noexcept { return -1; }
  bool may_sleep() const noexcept { return true; }
  const std::string& name() const noexcept { return name_; }

 private:
  static std::vector<std::byte> copy(const std::byte* bytes, size_t n) { return {bytes, bytes + n}; }
  Post record(Posted p) noexcept {
    if (room <= 0 || (p.what == 's' ? p.to.pe : p.remote.pe) == hung_pe) return Post::again;
    if (failing > 0) {
      --failing;
      return Post::failed;
    }
    --room;
    posted.push_back(std::move(p));
    return Post::ok;
  }

  std::deque<std::vector<std::byte>> messages_;
  std::string name_ = "scripted";
};

static_assert(Rail<ScriptedRail>);

}  // namespace railshmem::test
