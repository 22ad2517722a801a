// SPDX-License-Identifier: BSD-3-Clause
// Notices paths that have gone silent or whose rail has lost its link, and those that live again.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "src/base/log.h"
#include "src/proxy/failover/rail_descriptors.h"
#include "src/proxy/post/message.h"
#include "src/proxy/post/operation_table.h"

namespace railshmem {

/// Why a path was given up.
enum class Death : uint8_t {
  failure,          ///< the provider reported an error
  silence,          ///< the path owes something, and another path answers
  no_link,          ///< of this PE's NIC
  no_link_at_peer,  ///< of the peer's
  closing           ///< the rail was closed because of another path, or the peer closed its end
};

template <Rail R>
class PathWatch {
 public:
  PathWatch(OperationTable<R>& table, const RailDescriptors& descriptors, RailKeeper* keeper)
      : table_(table),
        descriptors_(descriptors),
        keeper_(keeper),
        period_ns_(table.tuning.rail_timeout_ns / kLooksPerTimeout) {}

  bool active() const noexcept { return !suspects_.empty() || !recovering_.empty(); }

  /// Looks after every path from time to time. Calls `dead(r, pe, death)` for a path that is silent while another one
  /// answers, or whose rail has no link. Takes no path back to a PE for which `held_back(pe)` is true. Calls
  /// `unanswered(pe)` when a request has got no answer for long though its path lives.
  template <class Dead, class HeldBack, class Unanswered>
  void look(uint64_t now, Dead&& dead, HeldBack&& held_back, Unanswered&& unanswered) noexcept {
    if (!link_changed(now) && now - last_look_ns_ < period_ns_) {
      acquit();
      return;
    }
    last_look_ns_ = now;
    ++look_;
    for (uint32_t i = 0; i < table_.cells().size(); ++i) {
      OpCell& cell = table_.cells()[i];
      if (cell.what.kind == OpKind::none) continue;
      const bool asks = cell.state.is_sent();
      if (!asks) cell.first_look = 0;
      if (!cell.state.in_flight() && !asks) continue;
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
    if (without_link_ != 0) [[unlikely]]
      give_up_links(dead);
    compare_suspects(now);
    size_t pings = kPingsPerLook;
    for (size_t i = 0; i < suspects_.size();) {
      if (treat(suspects_[i], now, pings, dead, held_back)) {
        suspects_[i] = suspects_.back();
        suspects_.pop_back();
      } else {
        ++i;
      }
    }
    if (keeper_ != nullptr && active()) [[unlikely]] {
      watch_recovering(now);
      limit_silence(now);
    }
  }

  /// Records that the path is dead. From now on the peer is asked now and then whether the path lives again. The first
  /// question goes at once if the peer must hear how a reopened rail is reached, or that a rail has no link.
  void lost(size_t r, int pe, uint64_t now, Death why) noexcept {
    const bool opened_anew = why == Death::closing;
    const uint64_t pinged = opened_anew || why == Death::no_link ? 0 : now;
    std::erase_if(recovering_, [&](const RecoveringPath& path) { return path.rail == r && path.pe == pe; });
    for (SuspectPath& suspect : suspects_)
      if (suspect.rail == r && suspect.pe == pe) {
        suspect.dead = true;
        suspect.limited = false;
        suspect.is_old = !opened_anew;
        suspect.moves = paths().at(r, pe).moves;
        suspect.since_ns = now;
        suspect.pinged_ns = pinged;
        return;
      }
    suspects_.push_back({.rail = r,
                         .pe = pe,
                         .dead = true,
                         .is_old = !opened_anew,
                         .since_ns = now,
                         .pinged_ns = pinged,
                         .moves = paths().at(r, pe).moves});
  }

  /// Uses no path to `pe`, except that of rail `alive`, until the path has shown that it lives.
  void doubt(int pe, size_t alive, uint64_t now) noexcept {
    const RailMask doubtful = paths().usable(pe) & ~(RailMask{1} << alive);
    for (RailMask rest = doubtful; rest != 0; rest &= rest - 1)
      add_suspect(static_cast<size_t>(std::countr_zero(rest)), pe, now);
  }

  /// Whether the path is known to be dead, and not only suspected.
  bool is_dead(size_t r, int pe) const noexcept {
    for (const SuspectPath& suspect : suspects_)
      if (suspect.rail == r && suspect.pe == pe) return suspect.dead;
    return false;
  }

  /// Sends a message that is only a header. The message may be lost on its way; false: it did not even leave.
  bool send_header(size_t r, int pe, const MessageHeader& header) noexcept {
    return send(r, pe, std::as_bytes(std::span(&header, 1)));
  }

 private:
  static constexpr uint32_t kLooksPerTimeout = 8;
  static constexpr uint32_t kLooksToSuspect = 2;  // a quarter of the timeout; nothing new goes over a suspect path
  static constexpr uint32_t kLooksUnanswered = 4 * kLooksPerTimeout;  // longer than a full queue of a slow rail
  static constexpr uint64_t kSilences = 2;                            // timeouts in which a dead connection must end
  static constexpr uint64_t kLinkPeriodNs = 20'000'000;  // between looks at the links: little beside a failover
  static constexpr size_t kPingsPerLook = 64;  // a rail that comes back to thousands of peers does so in waves

  struct SuspectPath {
    size_t rail;
    int pe;
    bool dead;                   ///< false: only suspect
    bool other_answers = false;  ///< suspect, and by the time of the last look another path to `pe` had answered
    bool limited = false;        ///< dead, and the system limits the silence of its connections
    bool is_old = false;         ///< dead, and its connections are still those of its death
    uint64_t since_ns;           ///< time when the path became suspect or dead
    uint64_t pinged_ns;
    uint32_t moves;                               ///< of the path when this record began
    std::array<uint32_t, kMostRails> moves_of{};  ///< suspect: of all paths to `pe` when this record began
  };

  /// A path that lives again, though some of its connections may not.
  struct RecoveringPath {
    size_t rail;
    int pe;
    uint64_t since_ns;
  };

  PathTable& paths() noexcept { return table_.rails().paths; }

  bool send(size_t r, int pe, std::span<const std::byte> bytes) noexcept {
    const Operation what{OpKind::answer, pe, bytes.size()};
    if (bytes.size() <= table_.rails().traits().inject)
      return table_.send(r, {pe, Port::proxy}, bytes.data(), bytes.size(), nullptr, what) == Post::ok;
    OpCell* const carrier = table_.cells().take(what);
    if (carrier == nullptr) return false;
    carrier->rail = static_cast<uint8_t>(r);
    std::byte* const buffer = table_.cells().buffer(*carrier);
    std::memcpy(buffer, bytes.data(), bytes.size());
    if (table_.send(r, {pe, Port::proxy}, buffer, bytes.size(), carrier, what) == Post::ok) return true;
    table_.cells().give(*carrier);
    return false;
  }

  /// Suspects that have answered are used again at once.
  void acquit() noexcept {
    for (size_t i = 0; i < suspects_.size();) {
      const SuspectPath& suspect = suspects_[i];
      if (suspect.dead || paths().at(suspect.rail, suspect.pe).moves == suspect.moves) {
        ++i;
        continue;
      }
      paths().set_up(suspect.rail, suspect.pe, true);
      suspects_[i] = suspects_.back();
      suspects_.pop_back();
    }
  }

  /// True when a rail has lost its link or got it back, or when a peer could not be told of a lost link. After a link
  /// came back, the peers that the rail did not reach are asked at once.
  bool link_changed(uint64_t now) noexcept {
    if (keeper_ == nullptr || now - links_read_ns_ < kLinkPeriodNs) return false;
    links_read_ns_ = now;
    const RailMask before = std::exchange(without_link_, keeper_->without_link(now));
    const bool untold = std::exchange(is_untold_, false);
    if (before == without_link_) [[likely]]
      return untold;
    for (SuspectPath& suspect : suspects_)
      if ((((before & ~without_link_) >> suspect.rail) & 1) != 0) suspect.pinged_ns = 0;
    return true;
  }

  /// Uses no path of a rail without a link, as long as another path reaches the PE. This includes paths that owe
  /// nothing, because the next operation would find out late. A PE reaches itself without a link.
  template <class Dead>
  void give_up_links(Dead&& dead) noexcept {
    for (RailMask rest = without_link_ & paths().all(); rest != 0; rest &= rest - 1) {
      const auto r = static_cast<size_t>(std::countr_zero(rest));
      for (int pe = 0; pe < paths().npes(); ++pe)
        if (pe != table_.headers.pe && paths().is_up(r, pe) && paths().is_open(r) && has_other(r, pe))
          dead(r, pe, Death::no_link);
    }
  }
  bool lacks_link(const SuspectPath& suspect) const noexcept {
    return ((without_link_ >> suspect.rail) & 1) != 0 && suspect.pe != table_.headers.pe;
  }
  bool has_other(size_t r, int pe) noexcept { return (paths().usable(pe) & ~(RailMask{1} << r)) != 0; }

  void look_at(size_t r, int pe, uint64_t now) noexcept {
    Path& path = paths().at(r, pe);
    if (path.look == look_) return;
    const bool watched = path.look + 1 == look_;
    path.look = look_;
    if (!watched || path.moves != path.seen) {
      path.seen = path.moves;
      path.quiet = 0;
    } else if (++path.quiet >= kLooksToSuspect) {
      add_suspect(r, pe, now);
    }
  }

  void add_suspect(size_t r, int pe, uint64_t now) noexcept {
    if (!has_other(r, pe)) return;  // no other path can replace this one: SHMEM_TIMEOUT decides
    paths().set_up(r, pe, false);
    SuspectPath& suspect = suspects_.emplace_back(SuspectPath{
        .rail = r, .pe = pe, .dead = false, .since_ns = now, .pinged_ns = now, .moves = paths().at(r, pe).moves});
    for (size_t other = 0; other < table_.rails().size(); ++other)
      suspect.moves_of[other] = paths().at(other, pe).moves;
    paths().at(r, pe).asked = look_;
    ping(r, pe);
    ask_others(r, pe, [](size_t) {});
  }

  template <class Each>
  void for_each_other(size_t r, int pe, Each&& each) noexcept {
    for (RailMask rest = paths().usable(pe) & ~(RailMask{1} << r); rest != 0; rest &= rest - 1)
      each(static_cast<size_t>(std::countr_zero(rest)));
  }

  /// Asks every other path to the PE of a suspect for comparison, because any of them may be silent too. A path that
  /// was asked owes an answer, so one that carries nothing else becomes suspect as well.
  void compare_suspects(uint64_t now) noexcept {
    for (size_t i = 0, n = suspects_.size(); i < n; ++i) {  // look_at() may add some
      if (suspects_[i].dead) continue;
      const int pe = suspects_[i].pe;
      ask_others(suspects_[i].rail, pe, [&](size_t other) { look_at(other, pe, now); });
    }
  }

  /// Asks all usable paths but `r`. One of them, another one at each look, also carries the doubts: the peer uses no
  /// other path until it has had its own answers.
  template <class Asked>
  void ask_others(size_t r, int pe, Asked&& asked) noexcept {
    const size_t carrier =
        table_.rails().after(look_ % table_.rails().size(), paths().usable(pe) & ~(RailMask{1} << r));
    for_each_other(r, pe, [&](size_t other) {
      ask(other, pe, other == carrier ? PingNews::doubts : PingNews::none);
      asked(other);
    });
  }

  /// Whether another usable path to the PE has answered since this one became suspect.
  bool other_has_answered(const SuspectPath& suspect) noexcept {
    bool answered = false;
    for_each_other(suspect.rail, suspect.pe,
                   [&](size_t other) { answered |= paths().at(other, suspect.pe).moves != suspect.moves_of[other]; });
    return answered;
  }

  /// Asks a path whether it lives, once a look however many suspects there are.
  void ask(size_t r, int pe, PingNews news) noexcept {
    Path& path = paths().at(r, pe);
    if (std::exchange(path.asked, look_) != look_) ping(r, pe, news);
  }

  /// Limits the silence of dead paths' connections. Called after the questions, which may have begun connections.
  void limit_silence(uint64_t now) noexcept {
    for (size_t r = 0; r < table_.rails().size(); ++r) {
      std::vector<int> pes;
      std::vector<int> old;
      for (SuspectPath& suspect : suspects_)
        if (suspect.rail == r && suspect.dead && std::exchange(suspect.is_old, false)) old.push_back(suspect.pe);
      if (!old.empty() && paths().is_open(r)) keeper_->cut(table_.headers.port, r, old);
      for (SuspectPath& suspect : suspects_)
        if (suspect.rail == r && suspect.dead && (!suspect.limited || suspect.pinged_ns == now)) {
          pes.push_back(suspect.pe);
          suspect.limited = true;
        }
      if (!pes.empty() && paths().is_open(r)) keeper_->limit_silence(table_.headers.port, r, pes, limit_ms());
    }
  }
  unsigned limit_ms() const noexcept {
    return static_cast<unsigned>(kSilences * table_.tuning.rail_timeout_ns / 1'000'000);
  }

  /// Lifts the limits of paths that live again, after a while. A path has a connection to each port of the peer, and
  /// the peer may have given up one of them. An end that never hears of this refuses a new connection. Under the limits
  /// such an end closes now that the link is there; all other ends recover.
  void watch_recovering(uint64_t now) noexcept {
    for (size_t i = 0; i < recovering_.size();) {
      const RecoveringPath path = recovering_[i];
      if (now - path.since_ns < (kSilences + 1) * table_.tuning.rail_timeout_ns) {
        ++i;
        continue;
      }
      if (paths().is_open(path.rail)) {
        keeper_->limit_silence(table_.headers.port, path.rail, {&path.pe, 1}, 0);
        // A connection attempt does not tell its peer, so the limits of this rail's other paths may be gone too.
        for (SuspectPath& other : suspects_) other.limited &= other.rail != path.rail;
      }
      recovering_[i] = recovering_.back();
      recovering_.pop_back();
    }
  }

  /// Takes the path of `suspect` back. The rail is well again when no other path of it is dead.
  void mend(const SuspectPath& suspect, uint64_t now) noexcept {
    paths().set_up(suspect.rail, suspect.pe, true);
    if (!suspect.dead) return;
    log_info("rail %s reaches PE %d again", table_.rails()[suspect.rail].name().c_str(), suspect.pe);
    if (keeper_ == nullptr) return;
    keeper_->limit_silence(table_.headers.port, suspect.rail, {&suspect.pe, 1}, limit_ms());  // from now on
    recovering_.push_back({suspect.rail, suspect.pe, now});
    for (const SuspectPath& other : suspects_)
      if (other.dead && other.rail == suspect.rail && other.pe != suspect.pe) return;
    keeper_->mended(table_.headers.port, suspect.rail);
  }

  bool ping(size_t r, int pe, PingNews news = PingNews::none, size_t unlinked = 0) noexcept {
    MessageHeader header = table_.headers.bare(MessageKind::ping);
    header.op = static_cast<uint8_t>(news);
    header.cell = static_cast<uint32_t>(unlinked);
    return send_header(r, pe, header);
  }

  /// Asks whether the dead path lives again. Where this rail was opened anew, the question tells the peer how to
  /// answer. The peer hears this over another rail too, because its own end may be new as well, and unknown here.
  void ask_dead(size_t r, int pe) noexcept {
    const std::span<const std::byte> descriptor = descriptors_.message(r);
    if (descriptor.empty()) {
      ping(r, pe);
    } else {
      send(r, pe, descriptor);
      notify_descriptor(r, pe);
    }
  }
  void notify_descriptor(size_t r, int pe) noexcept {
    const std::span<const std::byte> descriptor = descriptors_.message(r);
    if (const RailMask others = paths().usable(pe); others != 0 && !descriptor.empty())
      send(table_.rails().after(r, others), pe, descriptor);
  }
  /// Tells the peer, over another rail, that rail `r` has no link. Otherwise the peer would learn it only from silence.
  bool notify_no_link(size_t r, int pe) noexcept {
    const RailMask others = paths().usable(pe) & ~(RailMask{1} << r);
    return others != 0 && ping(table_.rails().after(r, others), pe, PingNews::no_link, r);
  }

  /// Peers hear how to reach a rail that was opened anew only when it has reached this PE itself: see Flusher.
  bool may_be_told(size_t r, int pe) noexcept {
    const int me = table_.headers.pe;
    return !table_.proves_rails || pe == me || ((paths().unproven(me) >> r) & 1) == 0;
  }

  /// Looks at one suspect path. True when the path is well again.
  template <class Dead, class HeldBack>
  bool treat(SuspectPath& suspect, uint64_t now, size_t& pings, Dead&& dead, HeldBack&& held_back) noexcept {
    const bool unlinked = lacks_link(suspect);
    // Messages that come now were on their way before the path died.
    if (unlinked || (suspect.dead && (held_back(suspect.pe) || now - suspect.since_ns < table_.tuning.quarantine_ns)))
      suspect.moves = paths().at(suspect.rail, suspect.pe).moves;
    const bool alive = paths().at(suspect.rail, suspect.pe).moves != suspect.moves;
    if (alive && paths().is_open(suspect.rail)) {
      mend(suspect, now);
      return true;
    }
    if (!suspect.dead) {
      const size_t r = suspect.rail;
      const int pe = suspect.pe;
      if (unlinked && has_other(r, pe)) {
        dead(r, pe, Death::no_link);  // calls lost()
        return false;
      }
      // The other path must have answered before the last look: behind a newer answer the missing one may be close.
      if (now - suspect.since_ns >= table_.tuning.rail_timeout_ns && suspect.other_answers) {
        dead(r, pe, Death::silence);  // calls lost()
        return false;
      }
      suspect.other_answers = other_has_answered(suspect);
      ask(r, pe, PingNews::none);
    } else if (now - suspect.pinged_ns >= table_.tuning.rail_timeout_ns / 2 && pings > 0 &&
               paths().is_open(suspect.rail) && may_be_told(suspect.rail, suspect.pe)) {
      suspect.pinged_ns = now;
      --pings;
      if (!unlinked) {
        ask_dead(suspect.rail, suspect.pe);
      } else {
        if (!notify_no_link(suspect.rail,
                            suspect.pe)) {  // the message may be the first to `pe`, still making its connection
          suspect.pinged_ns = 0;
          is_untold_ = true;
        }
        notify_descriptor(suspect.rail, suspect.pe);
      }
    }
    return false;
  }

  OperationTable<R>& table_;
  const RailDescriptors& descriptors_;
  RailKeeper* const keeper_;  ///< null: nobody keeps the rails
  const uint64_t period_ns_;
  uint64_t last_look_ns_ = 0;
  uint64_t links_read_ns_ = 0;
  RailMask without_link_ = 0;  ///< rails, as far as is known
  bool is_untold_ = false;     ///< some peer has not been told of a lost link
  uint32_t look_ = 1;
  std::vector<SuspectPath> suspects_;  ///< paths that are suspect or dead
  std::vector<RecoveringPath> recovering_;
};

}  // namespace railshmem
