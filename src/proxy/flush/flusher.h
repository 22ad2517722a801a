// SPDX-License-Identifier: BSD-3-Clause
// Flushes run one after the other. Data that peers' writes brought before the start of a flush is visible to its reader
// at the end of the flush.
//
// A peer's plain write leaves no event here. A message over one rail may speak of data that came over another rail,
// even of a third PE's data. So every flush takes every rail. On each rail a read of this PE's own memory pushes ahead
// of it all earlier writes of the NIC. Where this takes a write first, the write is posted before the read on that
// rail, and the flush waits for the read only. Rails go on independently: a rail that returns `again` holds up no
// other.
//
// A rail that fails its part cannot say what it has brought. So it is closed, and nothing comes over it any more. Its
// sources send data of unknown fate again over other rails. For all other data a pause is enough, longer than any write
// takes from a NIC to memory. The rail is left out until it was opened anew and has reached this PE itself, because
// peers do not use it before.
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
  /// Sets the plan from the next flush on.
  void use(const FlushPlan& plan) {
    plan_ = plan;
    if (plan_.uses_rails()) lanes_.resize(initiator_.rails().size());  // no change of size while lanes are in use
  }

  /// Starts a flush; none may be running. step() must follow.
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

  /// Posts the missing accesses as far as rails have room. True at the end of the flush.
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

  /// Posts one access of a lane. True when the rail took it.
  bool post(size_t r, Lane& lane, bool writes) noexcept {
    std::byte* const line = plan_.lines.data() + r * kFlushLine;
    // Two halves of a line: the read's data must not change what the write still sends.
    std::byte* const local = writes ? line : line + kFlushLine / 2;
    const Post posted = initiator_.loop_back(r, writes, {initiator_.pe(), plan_.segment, plan_.offset}, local,
                                             writes ? nullptr : &lane.told);
    if (posted == Post::ok) lane.state = writes ? State::read : State::reading;
    if (posted == Post::failed) lane.state = State::done;  // the job is over: everything counts as done
    return posted == Post::ok;
  }

  bool is_sealed(size_t r) noexcept { return ((paths().unproven(initiator_.pe()) >> r) & 1) != 0; }

  void close(size_t r, Lane& lane) noexcept {
    lane.state = State::closing;
    if (is_sealed(r)) return settle(lane);  // the rail was closed, and its access was lost by that
    log_debug("rail %s is closed: it does not flush", initiator_.rails()[r].name().c_str());
    initiator_.close_rail(r);
  }
  void settle(Lane& lane) noexcept {
    lane.state = State::settling;
    lane.since_ns = now_ns();
  }

  /// Looks after a lane that waits: PathWatch looks only at paths that are up.
  void look_after(size_t r, Lane& lane) noexcept {
    if (lane.state == State::done) return;
    const uint64_t waited_ns = now_ns() - lane.since_ns;
    const bool up = initiator_.rails().single() || paths().is_up(r, initiator_.pe());
    if (!up && is_sealed(r)) {
      settle(lane);  // the rail was closed before anything was posted
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
