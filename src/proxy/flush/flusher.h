// SPDX-License-Identifier: BSD-3-Clause
// One flush after the other: what peers' writes brought before its start is visible to its reader at its end.
//
// A peer's plain write leaves no event here, and a message that comes over one rail may speak of data that came over
// another, also of a third PE's. So every rail counts at every flush. On each one a read of this PE's own memory pushes
// ahead of it what the NIC wrote before; where that takes a write first, the write is posted before the read on the
// same rail, and only the read is waited for. Rails go on independently: one that answers `again` holds up no other.
//
// A rail that fails its part cannot say what it has brought. It is closed: nothing comes over it any more, what its
// source does not know to be there is sent again over other rails, and for the rest a pause is enough that no write
// outlasts on its way from a NIC to memory. It is left out until it was opened anew and has reached this PE itself,
// because peers do not use it before.
#pragma once

#include <vector>

#include "src/base/cpu.h"
#include "src/base/limit.h"
#include "src/base/log.h"
#include "src/proxy/flush/flush_plan.h"
#include "src/proxy/source/initiator.h"

namespace railshmem {

template <Rail R>
class Flusher {
 public:
  Flusher(Initiator<R>& initiator, const FlushPlan& plan)
      : initiator_(initiator), plan_(plan), lanes_(plan.uses_rails() ? initiator.rails().size() : 0) {}
  Flusher(const Flusher&) = delete;  // cells point to its lanes

  bool running() const noexcept { return running_; }
  /// From the next flush on.
  void use(const FlushPlan& plan) {
    plan_ = plan;
    if (plan_.uses_rails()) lanes_.resize(initiator_.rails().size());  // no more than there were, where some are in use
  }

  /// None may be running. step() must follow.
  void start() noexcept {
    running_ = true;
    initiator_.take_lost_flushes();  // late writes of earlier flushes
    if (plan_.policy == FlushPolicy::cuda) return run(*plan_.device);
    const uint64_t now = now_ns();
    const RailMask unproven = paths().unproven(initiator_.pe());
    settled_ &= unproven;
    for (size_t r = 0; r < lanes_.size(); ++r) {
      State state = plan_.policy == FlushPolicy::write_read ? State::write : State::read;
      if (((unproven >> r) & 1) != 0) state = ((settled_ >> r) & 1) != 0 ? State::done : State::settling;
      lanes_[r].state = state;
      lanes_[r].since_ns = now;
      lanes_[r].told = false;
    }
  }

  /// Posts what is missing, as far as there is room. True at the end of the flush.
  bool step() noexcept {
    const RailMask lost = initiator_.take_lost_flushes();
    bool complete = true;
    for (size_t r = 0; r < lanes_.size(); ++r) {
      if (lanes_[r].state != State::done) advance(r, lanes_[r], ((lost >> r) & 1) != 0);
      complete &= lanes_[r].state == State::done;
    }
    running_ = !complete;
    return complete;
  }

 private:
  static constexpr uint32_t kStepsPerClock = 64;  // a clock costs as much as a poll of an idle queue

  enum class State : uint8_t { write, read, reading, closing, settling, done };
  struct alignas(64) Lane {
    State state = State::done;
    bool told = false;  ///< by the read's completion
    uint64_t since_ns = 0;
  };

  PathTable& paths() noexcept { return initiator_.rails().paths; }

  void advance(size_t r, Lane& lane, bool lost) noexcept {
    if (is_told(lane.told)) {
      lane.state = State::done;
      return;
    }
    if (lost && lane.state < State::closing) close(r, lane);
    switch (lane.state) {
      case State::write:
        if (!post(r, lane, true)) break;
        [[fallthrough]];
      case State::read:
        if (!post(r, lane, false)) break;
        return;
      case State::reading:
        break;
      case State::closing:
        if (is_sealed(r)) settle(lane);
        return;
      case State::settling:
        if (now_ns() - lane.since_ns < initiator_.tuning().quarantine_ns) return;
        settled_ |= RailMask{1} << r;
        lane.state = State::done;
        return;
      case State::done:
        return;
    }
    if (++steps_ % kStepsPerClock == 0) look_after(r, lane);
  }

  /// True when it took effect.
  bool post(size_t r, Lane& lane, bool writes) noexcept {
    std::byte* const line = plan_.lines.data() + r * kFlushLine;
    // Apart, lest the read's data changes what the write still sends.
    std::byte* const local = writes ? line : line + kFlushLine / 2;
    switch (initiator_.loop(r, writes, {initiator_.pe(), plan_.segment, plan_.offset}, local,
                            writes ? nullptr : &lane.told)) {
      case Post::ok:
        lane.state = writes ? State::read : State::reading;
        return true;
      case Post::again:
        return false;
      case Post::failed:  // the job is over: everything counts as done
        lane.state = State::done;
        return false;
    }
    return false;
  }

  bool is_sealed(size_t r) noexcept { return ((paths().unproven(initiator_.pe()) >> r) & 1) != 0; }

  void close(size_t r, Lane& lane) noexcept {
    lane.state = State::closing;
    if (is_sealed(r)) return settle(lane);  // it was closed, and so the flush was lost
    log_debug("rail %s is closed: it does not flush", initiator_.rails()[r].name().c_str());
    initiator_.close_rail(r);
  }
  void settle(Lane& lane) noexcept {
    lane.state = State::settling;
    lane.since_ns = now_ns();
  }

  /// Who watches paths looks only at those that are up.
  void look_after(size_t r, Lane& lane) noexcept {
    if (lane.state == State::done) return;
    const uint64_t waited_ns = now_ns() - lane.since_ns;
    const bool up = initiator_.rails().single() || paths().is_up(r, initiator_.pe());
    if (!up && is_sealed(r)) {
      settle(lane);  // it was closed before anything was posted
    } else if (!up && waited_ns > initiator_.patience_ns(r)) {
      close(r, lane);
    } else if (waited_ns > limit_ns(plan_.timeout_s)) {
      die_without_progress({OpKind::flush, initiator_.pe(), sizeof(uint64_t)}, initiator_.rails()[r].name(),
                           plan_.timeout_s, "");
    }
  }

  Initiator<R>& initiator_;
  FlushPlan plan_;
  std::vector<Lane> lanes_;
  bool running_ = false;
  RailMask settled_ = 0;  ///< closed rails that were waited for
  uint32_t steps_ = 0;
};

}  // namespace railshmem
