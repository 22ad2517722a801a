// SPDX-License-Identifier: BSD-3-Clause
// What happens when a rail dies: notices it, brings its unfinished operations over other rails, and takes it back.
//
// A path is a rail of this port and a peer. A path is lost when the provider says so, or when it owes something and is
// silent while any other path to its peer answers. Then, per peer:
//   releasing    wait until the provider has let go of the path's operations; closing the rail frees those it keeps
//   quarantine   packets of the closed rail may still be under way
//   inquiring    ask the peer, over another rail, which requests it has executed
//   replaying    post the rest again: executed requests are not repeated, so signals and AMOs happen once
// Nothing here runs, and nothing is allocated, while all rails live; a single rail has no failover.
#pragma once

#include <bit>
#include <exception>
#include <string>
#include <vector>

#include "src/base/cpu.h"
#include "src/base/death_detector.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/proxy/failover/path_watch.h"
#include "src/proxy/failover/peer_news.h"
#include "src/proxy/failover/rail_reopener.h"
#include "src/proxy/failover/replay.h"
#include "src/proxy/post/operation_table.h"
#include "src/proxy/post/requests.h"

namespace railshmem {

template <Rail R>
class Failover {
 public:
  Failover(OperationTable<R>& table, Requests<R>& requests, RailKeeper* keeper, PeerNews* news)
      : table_(table),
        requests_(requests),
        keeper_(keeper),
        news_(news),
        replay_(table, requests),
        watch_(table, descriptors_, keeper),
        reopener_(table, descriptors_, keeper) {}

  /// Whether a recovery, a watched path or a reopening goes on only if somebody polls.
  bool active() const noexcept { return !recoveries_.empty() || watch_.active() || reopener_.active(); }

  /// At every poll of a port with several rails. `finish_part(cell)` and `answered(cell)` as in Initiator.
  template <class FinishPart, class Answered>
  void step(FinishPart&& finish_part, Answered&& answered) noexcept {
    if (table_.rails().has_lost()) [[unlikely]]
      lose_failed(now_ns());
    if (++polls_ % kPollsPerClock != 0) return;
    const uint64_t now = now_ns();
    watch_.look(
        now, [&](size_t r, int pe, Death why) { down(r, pe, now, why); }, [this](int pe) { return holds_back(pe); },
        [&](int pe) { inquire_alive(pe, now); });
    if (reopener_.active())
      reopener_.step(
          now, [&](size_t r, int pe) { down(r, pe, now, Death::closing); }, [this](OpCell& cell) { strand(cell); });
    for (size_t i = 0; i < recoveries_.size();)
      if (advance(recoveries_[i], now, finish_part, answered)) {
        table_.rails().paths.set_recovers(recoveries_[i].pe, false);
        log_debug("PE %d has everything of rails 0x%x", recoveries_[i].pe, recoveries_[i].rails);
        recoveries_.erase(recoveries_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
  }

  /// The peer has died: nothing is brought over other rails, and all of them swallow what is posted to it.
  void part_with(int pe) noexcept {
    std::erase_if(recoveries_, [pe](const Recovery& recovery) { return recovery.pe == pe; });
    table_.rails().paths.set_recovers(pe, false);
    for (size_t r = 0; r < table_.rails().size(); ++r) table_.rails().paths.set_up(r, pe, true);
  }

  /// Keeps the operation of this cell for the replay: the provider gave it up, or its rail was closed.
  void strand(OpCell& cell) noexcept {
    table_.rails().came(cell.rail);
    switch (cell.what.kind) {
      case OpKind::answer:
        table_.cells().give(cell);  // a peer that misses the answer will ask
        return;
      case OpKind::flush:
        table_.note_lost_flush(cell.rail);
        table_.cells().give(cell);
        return;
      case OpKind::put:
      case OpKind::get:
        break;
      case OpKind::put_signal:
        if (cell.parent != kNoCell) break;
        if (cell.request_bytes == 0 && (cell.state.owes_signal() || signal_is_copied())) break;
        [[fallthrough]];
      default:  // the carrier of a request, sent again with it
        cell.state.on<Event::lose_carrier>();
        if (--cell.parts_left == 0 && !cell.state.awaits_answer())
          table_.end(cell);  // its request was answered already
        return;
    }
    cell.state.on<Event::lose_data>();
    if (cell.parent != kNoCell) table_.rails().long_lost(cell.rail, cell.what.nbytes);
  }

  /// Whether peers' news wait for this port. Any thread may ask.
  bool has_news() const noexcept { return news_ != nullptr && news_->wait_for(table_.headers.port); }
  /// Acts on peers' news; before anything is posted.
  void receive_news() noexcept {
    if (has_news()) [[unlikely]]
      act_on_news();
  }
  /// Tells all ports of this PE what a peer says of its rails; this port acts at once.
  void notify_news(const News& news) {
    news_->notify(news);
    receive_news();
  }
  /// Whether peers may have news: this PE knows what to do with them.
  bool expects_news() const noexcept { return news_ != nullptr; }

  /// How long a silent rail may stay silent before it is closed; see is_spared().
  uint64_t patience_ns(size_t r) const noexcept {
    return table_.tuning.rail_timeout_ns * (is_only_way(r) ? kSparedTimeouts : 1);
  }
  /// Closes rail `r`: nothing comes over it until it was opened anew.
  void close(size_t r) noexcept { reopener_.close(r, now_ns()); }

  /// Takes the target's answer to an inquiry.
  Flaw account(const AccountMessage& message) noexcept {
    if (!requests_.outbox().may_miss(message.header.pe, message.header.sequence)) return Flaw::sequence;
    Recovery* const recovery = find(message.header.pe);
    if (recovery == nullptr || recovery->stage != Stage::inquiring || message.header.cell != recovery->number)
      return Flaw::none;  // of an older inquiry
    recovery->account = message;
    recovery->stage = Stage::replaying;
    log_debug("PE %d has executed requests up to %u; the rest is sent again", recovery->pe, message.header.sequence);
    return Flaw::none;
  }

 private:
  static constexpr uint32_t kPollsPerClock = 32;   // a clock costs as much as a poll of an idle queue
  static constexpr size_t kAsksPerDeathCheck = 8;  // two timeouts without an account
  static constexpr uint64_t kSparedTimeouts = 8;   // TCP gives up in a quarter of this time

  enum class Stage : uint8_t { releasing, closing, quarantine, inquiring, replaying };
  struct Recovery {
    int pe;
    uint32_t number;  ///< tells the account of this inquiry from an account of an older one
    RailMask rails;   ///< rails whose operations must go over other rails
    Stage stage;
    uint64_t since;
    uint64_t ask_at = 0;
    size_t asked = 0;
    uint64_t unreached_since = 0;  ///< 0: some path reaches the peer
    uint64_t death_check_at = 0;
    AccountMessage account{};
    RailMask hopeless = 0;  ///< those of `rails` without a link: none of their operations can still succeed
  };

  [[gnu::cold, gnu::noinline]] void act_on_news() noexcept {
    for (const News& news : news_->take(table_.headers.port)) {
      if (table_.abandoned()) continue;
      switch (news.what) {
        case News::What::doubt:
          watch_.doubt(news.pe, news.rail, now_ns());
          break;
        case News::What::no_link:
          unlinked(news.pe, keeper_->rails_to(news.pe, news.rail));
          break;
        case News::What::reopened:
          learn(news);
          break;
      }
    }
  }

  /// At `pe` the partners of these rails have no link: nothing comes over these paths any more.
  void unlinked(int pe, RailMask rails) noexcept {
    const uint64_t now = now_ns();
    for (RailMask rest = rails & table_.rails().paths.all(); rest != 0; rest &= rest - 1) {
      const auto r = static_cast<size_t>(std::countr_zero(rest));
      if ((table_.rails().usable(pe) & ~(RailMask{1} << r)) != 0 && !watch_.is_dead(r, pe))
        down(r, pe, now, Death::no_link_at_peer);
    }
  }

  void learn(const News& news) noexcept {
    try {
      readdressed(news.pe, keeper_->learn(table_.headers.port, news.pe, news.descriptor));
    } catch (const std::exception& error) {
      log_warn("PE %d opened a rail anew, but this PE cannot use it: %s", news.pe, error.what());
    }
  }
  /// Messages under way to the old partners of the rail that the peer opened anew are lost, though the paths live.
  void readdressed(int pe, RailMask rails) noexcept {
    for (uint32_t i = 0; i < table_.cells().size(); ++i) {
      const OpCell& cell = table_.cells()[i];
      if (cell.what.kind == OpKind::none || cell.what.kind == OpKind::answer || cell.what.pe != pe) continue;
      if (((rails >> cell.rail) & 1) == 0 || is_covered(cell.rail, pe)) continue;
      if (cell.state.in_flight() || cell.state.is_sent()) down(cell.rail, pe, now_ns(), Death::closing);
    }
  }

  Recovery* find(int pe) noexcept {
    for (Recovery& recovery : recoveries_)
      if (recovery.pe == pe) return &recovery;
    return nullptr;
  }
  bool signal_is_copied() const noexcept { return table_.rails().traits().inject >= sizeof(SignalMessage); }

  /// Whether lost paths to `pe` must not be taken back yet: their unfinished operations are still to be found by their
  /// rail, so no new ones may join them.
  bool holds_back(int pe) noexcept {
    const Recovery* const recovery = find(pe);
    return recovery != nullptr && recovery->stage < Stage::inquiring;
  }

  void lose_failed(uint64_t now) noexcept {
    for (const auto& lost : table_.rails().take_lost()) {
      if (table_.gone().has(lost.pe)) continue;
      if (is_covered(lost.rail, lost.pe))
        watch_.lost(lost.rail, lost.pe, now, Death::failure);  // the suspect may have been used again meanwhile
      else
        down(lost.rail, lost.pe, now, Death::failure);
    }
  }

  /// Whether a recovery has begun that will find all lost operations of this path.
  bool is_covered(size_t r, int pe) noexcept {
    const Recovery* const recovery = find(pe);
    return recovery != nullptr && recovery->stage < Stage::inquiring && ((recovery->rails >> r) & 1) != 0;
  }

  /// Asks `pe` what it has executed: the answer to a request may be lost on a rail of the peer while all rails here
  /// live.
  void inquire_alive(int pe, uint64_t now) noexcept {
    if (find(pe) != nullptr) return;
    Recovery recovery{pe, ++inquiries_, table_.rails().paths.all(), Stage::inquiring, now};
    recovery.ask_at = now;
    lose_requests(recovery);
    recoveries_.push_back(recovery);
    table_.rails().paths.set_recovers(pe, true);
    log_debug("PE %d has not answered for long", pe);
  }

  /// One warning per outage of a rail, whichever port and path notices it first.
  void notify_death(size_t r, int pe, Death death) noexcept {
    const char* why = "failed";
    if (death == Death::silence) why = "is silent";
    if (death == Death::no_link) why = "has no link";
    if (death == Death::no_link_at_peer) why = "has no link at that end";
    const char* const name = table_.rails()[r].name().c_str();
    if (keeper_ == nullptr || keeper_->outage(table_.headers.port, r))
      log_warn("rail %s to PE %d %s; its operations go over the other rails", name, pe, why);
    else
      log_info("rail %s to PE %d %s, too", name, pe, why);
  }

  /// Whether an operation is under way on the path, or a request is unanswered whose answer may come over the path.
  bool owes(size_t r, int pe) const noexcept {
    for (uint32_t i = 0; i < table_.cells().size(); ++i) {
      const OpCell& cell = table_.cells()[i];
      if (cell.what.kind == OpKind::none || cell.what.kind == OpKind::answer || cell.what.pe != pe) continue;
      if (cell.state.awaits_answer() || (cell.rail == r && cell.state.has_data_to_come())) return true;
    }
    return false;
  }

  void down(size_t r, int pe, uint64_t now, Death why) noexcept {
    PathTable& paths = table_.rails().paths;
    const bool unlinked = why == Death::no_link || why == Death::no_link_at_peer;
    paths.set_up(r, pe, false);
    if (why != Death::closing) {
      notify_death(r, pe, why);
      table_.rails().count_failover(r, unlinked);
    }
    watch_.lost(r, pe, now, why);
    const bool may_be_idle = unlinked || why == Death::silence;      // idle paths are asked, too: see PathWatch
    if (may_be_idle && find(pe) == nullptr && !owes(r, pe)) return;  // there is nothing to recover
    Recovery* recovery = find(pe);
    if (recovery == nullptr) recovery = &recoveries_.emplace_back(Recovery{pe, 0, 0, Stage::releasing, now});
    recovery->number = ++inquiries_;
    recovery->rails = (recovery->rails & ~paths.up(pe)) | RailMask{1} << r;  // rails taken back carry new operations
    recovery->hopeless = (recovery->hopeless & recovery->rails) | (unlinked ? RailMask{1} << r : 0);
    recovery->stage = Stage::releasing;
    recovery->since = now;
    paths.set_recovers(pe, true);
  }

  /// Goes on with a recovery. True when the recovery is over.
  template <class FinishPart, class Answered>
  bool advance(Recovery& recovery, uint64_t now, FinishPart&& finish_part, Answered&& answered) noexcept {
    look_for_paths(recovery, now);
    switch (recovery.stage) {
      case Stage::releasing:
      case Stage::closing:
        release(recovery, now);
        return false;
      case Stage::quarantine:
        if (now - recovery.since < table_.tuning.quarantine_ns) return false;
        lose_requests(recovery);
        recovery.stage = Stage::inquiring;
        recovery.ask_at = now;
        return false;
      case Stage::inquiring:
        if (now >= recovery.ask_at) inquire(recovery, now);
        return false;
      case Stage::replaying:
        return replay_.data(recovery.pe, recovery.account, finish_part) &
               replay_.requests(recovery.pe, recovery.account, answered);
    }
    return false;
  }

  /// Ends the job when no path has reached the PE for SHMEM_TIMEOUT, or when its death is known. Until then rails that
  /// were closed for this PE or another one may be reopened and reach it.
  void look_for_paths(Recovery& recovery, uint64_t now) noexcept {
    if (table_.rails().usable(recovery.pe) != 0) {
      recovery.unreached_since = 0;
      return;
    }
    if (recovery.unreached_since == 0) {
      recovery.unreached_since = now;
      recovery.death_check_at = now + table_.tuning.rail_timeout_ns;
    }
    if (now < recovery.death_check_at) return;
    recovery.death_check_at = now + 4 * table_.tuning.rail_timeout_ns;  // asking may take half a second
    if (now - recovery.unreached_since >= table_.tuning.unreachable_ns || death_ends_job())
      die_unreachable(static_cast<size_t>(std::countr_zero(recovery.rails)), recovery.pe);
  }

  void release(Recovery& recovery, uint64_t now) noexcept {
    RailMask held = 0;
    for (uint32_t i = 0; i < table_.cells().size(); ++i) {
      const OpCell& cell = table_.cells()[i];
      // The loss of an answer does no harm, and an answer may be what tells the peer of the rail opened for it.
      if (cell.what.kind == OpKind::answer) continue;
      if (on(cell, recovery) && cell.state.in_flight()) held |= RailMask{1} << cell.rail;
    }
    if (held == 0) {
      recovery.stage = Stage::quarantine;
      recovery.since = now;
    } else if (recovery.stage == Stage::releasing) {
      const bool over = now - recovery.since >= table_.tuning.rail_timeout_ns / 4;
      if (over) recovery.stage = Stage::closing;
      for (RailMask rest = over ? held : held & recovery.hopeless; rest != 0; rest &= rest - 1) {
        const auto r = static_cast<size_t>(std::countr_zero(rest));
        if (is_spared(r, recovery, now))
          recovery.stage = Stage::releasing;
        else
          reopener_.close(r, now);
      }
    }
  }

  /// Whether rail `r` stays open for now because it is the only path to another PE. That PE may close its end of the
  /// path at this moment too; then neither PE could tell the other its new address. Meanwhile the provider may still
  /// give back the operations that it holds.
  bool is_spared(size_t r, const Recovery& recovery, uint64_t now) noexcept {
    return now - recovery.since < kSparedTimeouts * table_.tuning.rail_timeout_ns && is_only_way(r);
  }
  /// Whether rail `r` is the only usable path to some PE.
  bool is_only_way(size_t r) const noexcept {
    for (int pe = 0; pe < table_.rails().paths.npes(); ++pe)
      if (table_.rails().usable(pe) == RailMask{1} << r) return true;
    return false;
  }

  static bool on(const OpCell& cell, const Recovery& recovery) noexcept {
    return cell.what.kind != OpKind::none && cell.what.pe == recovery.pe && ((recovery.rails >> cell.rail) & 1) != 0;
  }

  /// Marks the requests that went over lost rails: their answers are not expected any more.
  void lose_requests(const Recovery& recovery) noexcept {
    requests_.outbox().for_each(table_.cells(), recovery.pe, [&](OpCell& cell) {
      if (!cell.state.is_sent() || !on(cell, recovery)) return;
      cell.state.on<Event::lose_request>();
      table_.rails().came(cell.rail);
    });
  }

  void inquire(Recovery& recovery, uint64_t now) noexcept {
    const RailMask usable = table_.rails().usable(recovery.pe);
    // detected_death() may take half a second.
    if (recovery.asked % kAsksPerDeathCheck == kAsksPerDeathCheck - 1 && death_ends_job())
      die_unreachable(static_cast<size_t>(std::countr_zero(recovery.rails)), recovery.pe);
    recovery.ask_at = now + table_.tuning.rail_timeout_ns / 4;
    if (usable == 0) return;  // a rail is being opened anew
    MessageHeader header = table_.headers.bare(MessageKind::inquiry);
    header.cell = recovery.number;
    log_debug("PE %d is asked what it has executed", recovery.pe);
    watch_.send_header(table_.rails().after(recovery.asked++ % table_.rails().size(), usable), recovery.pe, header);
  }

  /// Whether a peer is known to have died, in a job whose PEs do not go on without it.
  bool death_ends_job() const noexcept { return table_.lost == nullptr && !detected_death(kBesideWork).empty(); }

  [[noreturn, gnu::cold]] void die_unreachable(size_t r, int pe) noexcept {
    const std::string death = detected_death();
    die("PE %d is not reached over any of %zu rails any more, last over %s: %s; %s", pe, table_.rails().size(),
        table_.rails()[r].name().c_str(), death.empty() ? "all failed" : death.c_str(),
        death.empty() ? "look for an earlier message of that PE, or check the network between the two hosts"
                      : "see that PE's own output");
  }

  OperationTable<R>& table_;
  Requests<R>& requests_;
  RailKeeper* const keeper_;
  PeerNews* const news_;  ///< null: no peer has any
  Replay<R> replay_;
  RailDescriptors descriptors_;
  PathWatch<R> watch_;
  RailReopener<R> reopener_;
  std::vector<Recovery> recoveries_;  ///< one per peer at most
  uint32_t inquiries_ = 0;
  uint32_t polls_ = 0;
};

}  // namespace railshmem
