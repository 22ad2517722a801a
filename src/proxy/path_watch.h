// SPDX-License-Identifier: BSD-3-Clause
// Notices paths that have gone silent, and those that live again.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "src/base/log.h"
#include "src/proxy/desk.h"
#include "src/proxy/message.h"
#include "src/proxy/rail_cards.h"

namespace railshmem {

template <Rail R>
class PathWatch {
 public:
  PathWatch(Desk<R>& desk, const RailCards& cards, RailKeeper* keeper)
      : desk_(desk), cards_(cards), keeper_(keeper), period_ns_(desk.tuning.rail_timeout_ns / kLooksPerTimeout) {}

  bool active() const noexcept { return !sick_.empty(); }

  /// Looks after every path from time to time: `silent(r, pe)` for one that is silent while another answers. A path to
  /// a PE for which `held_back(pe)` is not taken back yet.
  /// `unanswered(pe)`: a request has got no answer for long though its path lives.
  template <class Silent, class HeldBack, class Unanswered>
  void look(uint64_t now, Silent&& silent, HeldBack&& held_back, Unanswered&& unanswered) noexcept {
    if (now - last_look_ns_ < period_ns_) {
      acquit();
      return;
    }
    last_look_ns_ = now;
    ++look_;
    for (uint32_t i = 0; i < desk_.cells.size(); ++i) {
      OpCell& cell = desk_.cells[i];
      if (cell.what.kind == OpKind::none) continue;
      const bool asks = cell.awaits_answer && !cell.lost_request;
      if (!asks) cell.first_look = 0;
      if (!cell.in_flight && !asks) continue;
      if (asks && cell.first_look == 0) cell.first_look = look_;
      if (asks && look_ - cell.first_look >= kLooksUnanswered) {
        cell.first_look = 0;
        unanswered(cell.what.pe);
      }
      if (paths().is_up(cell.rail, cell.what.pe)) look_at(cell.rail, cell.what.pe, now);
    }
    paths().take_refused([&](size_t r, int pe) {
      if (paths().is_up(r, pe)) look_at(r, pe, now);
    });
    size_t pings = kPingsPerLook;
    for (size_t i = 0; i < sick_.size();) {
      if (treat(sick_[i], now, pings, silent, held_back)) {
        sick_[i] = sick_.back();
        sick_.pop_back();
      } else {
        ++i;
      }
    }
    if (keeper_ != nullptr && !sick_.empty()) [[unlikely]]
      limit_silence(now);
  }

  /// The path is dead; from now on it is asked now and then whether it lives again. First at once if its rail was
  /// `opened_anew`: the peer must hear how it is reached.
  void lost(size_t r, int pe, uint64_t now, bool opened_anew) noexcept {
    const uint64_t pinged = opened_anew ? 0 : now;
    for (Sick& sick : sick_)
      if (sick.rail == r && sick.pe == pe) {
        sick.dead = true;
        sick.limited = false;
        sick.moves = paths().at(r, pe).moves;
        sick.pinged_ns = pinged;
        return;
      }
    sick_.push_back({r, pe, true, false, now, pinged, paths().at(r, pe).moves, kNoRail, 0});
  }

  /// Paths to `pe` are not used until they have shown that they live; that of rail `alive` has.
  void doubt(int pe, size_t alive, uint64_t now) noexcept {
    const RailMask doubtful = paths().usable(pe) & ~(RailMask{1} << alive);
    for (RailMask rest = doubtful; rest != 0; rest &= rest - 1)
      suspect(static_cast<size_t>(std::countr_zero(rest)), pe, now);
  }

  /// A message that is nothing but a header. It may be lost.
  void send_header(size_t r, int pe, const MessageHeader& header) noexcept {
    send(r, pe, std::as_bytes(std::span(&header, 1)));
  }

 private:
  static constexpr uint32_t kLooksPerTimeout = 8;
  static constexpr uint32_t kLooksToSuspect = 2;  // a quarter of the timeout: nothing new goes there meanwhile
  static constexpr uint32_t kLooksUnanswered = 4 * kLooksPerTimeout;  // longer than a full queue of a slow rail
  static constexpr uint64_t kSilences = 2;                            // timeouts in which a dead connection must end
  static constexpr size_t kPingsPerLook = 64;  // a rail that comes back to thousands of peers does so in waves

  struct Sick {
    size_t rail;
    int pe;
    bool dead;              ///< else suspect
    bool witness_answered;  ///< at the last look
    uint64_t since_ns;
    uint64_t pinged_ns;
    uint32_t moves;  ///< of the path at the start
    size_t witness;  ///< another rail to the same PE; kNoRail: none was asked
    uint32_t witness_moves;
    bool limited = false;  ///< dead, and the system knows
  };

  PathTable& paths() noexcept { return desk_.rails.paths; }

  void send(size_t r, int pe, std::span<const std::byte> bytes) noexcept {
    const Operation what{OpKind::answer, pe, bytes.size()};
    if (bytes.size() <= desk_.rails.traits().inject) {
      desk_.send(r, {pe, Port::proxy}, bytes.data(), bytes.size(), nullptr, what);
      return;
    }
    OpCell* const carrier = desk_.cells.take(what);
    if (carrier == nullptr) return;
    carrier->rail = static_cast<uint8_t>(r);
    std::byte* const buffer = desk_.cells.buffer(*carrier);
    std::memcpy(buffer, bytes.data(), bytes.size());
    if (desk_.send(r, {pe, Port::proxy}, buffer, bytes.size(), carrier, what) != Post::ok) desk_.cells.give(*carrier);
  }

  /// Suspects that have answered are used again at once.
  void acquit() noexcept {
    for (size_t i = 0; i < sick_.size();) {
      const Sick& sick = sick_[i];
      if (sick.dead || paths().at(sick.rail, sick.pe).moves == sick.moves) {
        ++i;
        continue;
      }
      paths().set_up(sick.rail, sick.pe, true);
      sick_[i] = sick_.back();
      sick_.pop_back();
    }
  }

  void look_at(size_t r, int pe, uint64_t now) noexcept {
    Path& path = paths().at(r, pe);
    if (path.look == look_) return;
    const bool watched = path.look + 1 == look_;
    path.look = look_;
    if (!watched || path.moves != path.seen) {
      path.seen = path.moves;
      path.quiet = 0;
    } else if (++path.quiet >= kLooksToSuspect) {
      suspect(r, pe, now);
    }
  }

  void suspect(size_t r, int pe, uint64_t now) noexcept {
    const RailMask others = paths().usable(pe) & ~(RailMask{1} << r);
    if (others == 0) return;  // nothing to take its place: SHMEM_TIMEOUT decides
    paths().set_up(r, pe, false);
    const size_t witness = desk_.rails.after(r, others);
    sick_.push_back({r, pe, false, false, now, now, paths().at(r, pe).moves, witness, paths().at(witness, pe).moves});
    ping(r, pe);
    ping(witness, pe, true);
  }

  /// After the questions, which may have begun connections.
  void limit_silence(uint64_t now) noexcept {
    for (size_t r = 0; r < desk_.rails.size(); ++r) {
      std::vector<int> pes;
      for (Sick& sick : sick_)
        if (sick.rail == r && sick.dead && (!sick.limited || sick.pinged_ns == now)) {
          pes.push_back(sick.pe);
          sick.limited = true;
        }
      const auto timeout_ms = static_cast<unsigned>(kSilences * desk_.tuning.rail_timeout_ns / 1'000'000);
      if (!pes.empty() && paths().is_open(r)) keeper_->limit_silence(desk_.letterhead.port, r, pes, timeout_ms);
    }
  }

  /// The path of `sick` is well again; if no other one of its rail is dead, the rail is.
  void mend(const Sick& sick) noexcept {
    paths().set_up(sick.rail, sick.pe, true);
    if (!sick.dead) return;
    log_info("rail %s reaches PE %d again", desk_.rails[sick.rail].name().c_str(), sick.pe);
    if (keeper_ != nullptr) keeper_->limit_silence(desk_.letterhead.port, sick.rail, {&sick.pe, 1}, 0);
    bool others = false;
    for (Sick& other : sick_)
      if (other.dead && other.rail == sick.rail && other.pe != sick.pe) {
        others = true;
        other.limited = false;  // attempts to connect do not tell to whom, so its limit may be gone as well
      }
    if (keeper_ != nullptr && !others) keeper_->mended(desk_.letterhead.port, sick.rail);
  }

  /// `doubts`: the peer had better look after its own paths to this PE, too.
  void ping(size_t r, int pe, bool doubts = false) noexcept {
    MessageHeader header = desk_.letterhead.bare(MessageKind::ping);
    header.op = doubts;
    send_header(r, pe, header);
  }

  /// Does the dead path live again? The peer learns with the question how to answer, should this rail be a new one. It
  /// hears that over another rail, too: its own end may be as new, and unknown here.
  void ask_dead(size_t r, int pe) noexcept {
    const std::span<const std::byte> card = cards_.message(r);
    if (card.empty()) return ping(r, pe);
    send(r, pe, card);
    if (const RailMask others = paths().usable(pe); others != 0) send(desk_.rails.after(r, others), pe, card);
  }

  /// Peers hear how to reach a rail that was opened anew only when it has reached this PE itself: see Flusher.
  bool may_be_told(size_t r, int pe) noexcept {
    const int me = desk_.letterhead.pe;
    return !desk_.proves_rails || pe == me || ((paths().unproven(me) >> r) & 1) == 0;
  }

  /// True when it is well again.
  template <class Silent, class HeldBack>
  bool treat(Sick& sick, uint64_t now, size_t& pings, Silent&& silent, HeldBack&& held_back) noexcept {
    const bool alive = paths().at(sick.rail, sick.pe).moves != sick.moves;
    if (alive && (!sick.dead || !held_back(sick.pe)) && paths().is_open(sick.rail)) {
      mend(sick);
      return true;
    }
    if (!sick.dead) {
      const size_t r = sick.rail;
      const int pe = sick.pe;
      // The witness must have answered before the last look already: both answers may be under way together.
      if (now - sick.since_ns >= desk_.tuning.rail_timeout_ns && sick.witness_answered) {
        silent(r, pe);  // calls lost()
        return false;
      }
      sick.witness_answered = paths().at(sick.witness, pe).moves != sick.witness_moves;
      ping(r, pe);
      ping(sick.witness, pe, true);
    } else if (now - sick.pinged_ns >= desk_.tuning.rail_timeout_ns / 2 && pings > 0 && paths().is_open(sick.rail) &&
               may_be_told(sick.rail, sick.pe)) {
      sick.pinged_ns = now;
      --pings;
      ask_dead(sick.rail, sick.pe);
    }
    return false;
  }

  Desk<R>& desk_;
  const RailCards& cards_;
  RailKeeper* const keeper_;  ///< null: nobody keeps the rails
  const uint64_t period_ns_;
  uint64_t last_look_ns_ = 0;
  uint32_t look_ = 1;
  std::vector<Sick> sick_;  ///< paths that are suspect or dead
};

}  // namespace railshmem
