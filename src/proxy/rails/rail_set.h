// SPDX-License-Identifier: BSD-3-Clause
// The rails of one port, and which of them an operation takes. One thread at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/plugin/rail.h"
#include "src/proxy/rails/path_table.h"
#include "src/proxy/rails/rail_meter.h"
#include "src/proxy/rails/tuning.h"

namespace railshmem {

struct RailCounts {
  uint64_t operations = 0;  ///< posts that the rail took
  uint64_t nbytes = 0;
  uint64_t again = 0;      ///< posts that it had no room for
  uint64_t failovers = 0;  ///< times that operations of this rail had to go over other rails
  uint64_t unlinked = 0;   ///< failovers because of a lost link
  uint64_t refused = 0;    ///< messages that were dropped: see check_message()
};

template <Rail R>
class RailSet {
 public:
  RailSet(std::span<R> rails, int me, int npes, const Tuning& tuning)
      : paths(checked(rails).size(), npes),
        rails_(rails),
        tuning_(tuning),
        for_long_(mask_for_long(tuning.stripe_rails)),
        starts_(starts(rails.size(), me, npes)),
        lanes_(rails.size()) {
    traits_ = rails[0].traits();
    for (const R& rail : rails) {
      const RailTraits& other = rail.traits();
      traits_.inject = std::min(traits_.inject, other.inject);
      traits_.max_write = std::min(traits_.max_write, other.max_write);
      traits_.max_message = std::min(traits_.max_message, other.max_message);
      traits_.message_after_write &= other.message_after_write;
      traits_.write_after_write &= other.write_after_write;
      traits_.reads_may_fail &= other.reads_may_fail;
    }
  }

  PathTable paths;

  /// Keeps `nbytes` of each message free, for messages of at most `longest` bytes with them.
  void leave_room(size_t nbytes, size_t longest) noexcept {
    traits_.inject -= std::min(traits_.inject, nbytes);
    traits_.max_message = std::min(traits_.max_message, longest);
    traits_.max_message -= std::min(traits_.max_message, nbytes);
  }

  size_t size() const noexcept { return rails_.size(); }
  bool single() const noexcept { return rails_.size() == 1; }
  R& operator[](size_t r) noexcept { return rails_[r]; }
  const R& operator[](size_t r) const noexcept { return rails_[r]; }
  /// What every rail can do.
  const RailTraits& traits() const noexcept { return traits_; }
  /// For messages: the name of the only rail, or of the first one of several.
  std::string name() const {
    return single() ? rails_[0].name() : text("%zu rails (%s, ...)", size(), rails_[0].name().c_str());
  }
  /// Rails that reach `pe` now.
  RailMask usable(int pe) const noexcept { return paths.usable(pe); }
  /// Gives a path up after a post to `pe` failed for good. False when no other path could replace this one.
  /// `harmful`: the failed operation must be recovered even if the path was only suspect and not in use any more.
  bool lose(size_t r, int pe, bool harmful) noexcept {
    if (single()) return false;
    if (harmful || paths.is_up(r, pe)) lost_.push_back({r, pe});  // allocates rarely, and never while all is well
    paths.set_up(r, pe, false);
    return true;
  }
  /// Paths that lose() was told of since the last call.
  std::vector<PathName> take_lost() noexcept { return std::exchange(lost_, {}); }
  bool has_lost() const noexcept { return !lost_.empty(); }

  /// The rail to try first for a short operation. Rails are taken in turn, from a start that differs between pairs of
  /// PEs, so that sources do not all load one rail of a target. A rail with long operations is left out while another
  /// rail has none.
  [[gnu::always_inline]] size_t pick(int pe) noexcept { return single() ? 0 : pick_of_several(pe); }

  /// The rail to try first for a message that is part of a long operation: like pick(), among the rails for long ones.
  size_t pick_for_long(int pe) noexcept { return after(pick(pe), usable_for_long(pe)); }

  /// The rail that takes the next `nbytes` of a long operation, of which `unposted` bytes are still to be posted; never
  /// one of `full`. kNoRail: wait, because a busy rail will be through with these bytes sooner.
  size_t claim(int pe, size_t nbytes, uint64_t unposted, RailMask full) const noexcept {
    if (single()) return full == 0 ? 0 : kNoRail;
    double speeds = 0;
    double load = static_cast<double>(unposted);
    double first_end = 0;
    double best_end = 0;
    size_t best = kNoRail;
    for (RailMask rest = usable_for_long(pe); rest != 0; rest &= rest - 1) {
      const auto r = static_cast<size_t>(std::countr_zero(rest));
      const uint64_t queued = lanes_[r].meter.in_flight();
      const bool refuses = ((full >> r) & 1) != 0;
      if (refuses && queued == 0) continue;  // it may refuse for long: no piece of ours ends there to make room
      const double speed = this->speed(r);
      const size_t next = std::min(nbytes, longest_piece(r));
      const double end = static_cast<double>(queued + next) / speed;
      speeds += speed;
      load += static_cast<double>(queued);
      if (first_end == 0 || end < first_end) first_end = end;
      const bool room = !refuses && (queued == 0 || queued + next <= window(r));
      if (room && (best == kNoRail || end < best_end)) {
        best = r;
        best_end = end;
      }
    }
    // A rail other than the first to end helps only if it ends before all rails together could.
    return best == kNoRail || best_end <= first_end || best_end <= load / speeds ? best : kNoRail;
  }

  /// The longest piece that leaves room in the rail's window for another piece.
  size_t longest_piece(size_t r) const noexcept { return window(r) / 2; }

  // ---- accounts ----------------------------------------------------------------------------------------------------

  /// Events or answers that somebody waits for on this rail.
  bool waits_for(size_t r) const noexcept { return lanes_[r].waiting > 0; }
  void expect(size_t r) noexcept { ++lanes_[r].waiting; }
  void came(size_t r) noexcept { --lanes_[r].waiting; }

  void count(size_t r, Post posted, size_t nbytes) noexcept {
    RailCounts& counts = lanes_[r].counts;
    if (posted == Post::ok) {
      ++counts.operations;
      counts.nbytes += nbytes;
    } else {
      ++counts.again;
    }
  }
  void count_failover(size_t r, bool unlinked) noexcept {
    ++lanes_[r].counts.failovers;
    lanes_[r].counts.unlinked += unlinked;
  }
  void count_refused(size_t r) noexcept { ++lanes_[r].counts.refused; }
  const RailCounts& counts(size_t r) const noexcept { return lanes_[r].counts; }
  /// One line per rail that was used, for SHMEM_STATS=1.
  std::vector<std::string> rows(const char* port) const {
    std::vector<std::string> rows;
    for (size_t r = 0; r < size(); ++r) {
      const RailCounts& c = counts(r);
      if (c.operations + c.again + c.failovers + c.refused == 0) continue;
      rows.push_back(
          text("rail %zu %s (%s): %llu operations, %llu bytes, %llu again, %llu failovers (%llu for want of a link), "
               "%llu messages dropped; long operations moved at %.0f MB/s",
               r, rails_[r].name().c_str(), port, static_cast<unsigned long long>(c.operations),
               static_cast<unsigned long long>(c.nbytes), static_cast<unsigned long long>(c.again),
               static_cast<unsigned long long>(c.failovers), static_cast<unsigned long long>(c.unlinked),
               static_cast<unsigned long long>(c.refused), lanes_[r].meter.rate() * 1e3));
    }
    return rows;
  }

  void long_posted(size_t r, size_t nbytes) noexcept {
    if (single()) return;
    long_bytes_ += nbytes;
    lanes_[r].meter.posted(nbytes, now_ns());
  }
  /// Takes a piece out of the accounts that was posted and will never complete.
  void long_lost(size_t r, size_t nbytes) noexcept {
    long_bytes_ -= nbytes;
    lanes_[r].meter.lost(nbytes);
  }
  void long_completed(size_t r, size_t nbytes) noexcept {
    if (single()) return;
    long_bytes_ -= nbytes;
    lanes_[r].meter.completed(nbytes, now_ns());
  }

  uint64_t long_in_flight(size_t r) const noexcept { return lanes_[r].meter.in_flight(); }

  /// The first rail of `of` from r on, in a circle; r itself when `of` is empty.
  static size_t after(size_t r, RailMask of) noexcept {
    if (of == 0) return r;
    const RailMask at_or_after = of & ~((RailMask{1} << r) - 1);
    return static_cast<size_t>(std::countr_zero(at_or_after != 0 ? at_or_after : of));
  }

 private:
  static constexpr uint64_t kMuchQueued = uint64_t{64} << 10;  // takes longer than rails taken in turn even out

  static constexpr double kSlowest = 16;  // a piece of 64 KiB ends before 1 MiB is through on the fastest

  struct Lane {
    RailMeter meter;
    uint64_t waiting = 0;
    RailCounts counts;
  };

  /// Any good mixing will do: neighbouring PEs must not start at one rail.
  static uint64_t mix(int me, int pe) noexcept {
    uint64_t pair = (static_cast<uint64_t>(static_cast<uint32_t>(me)) << 32) | static_cast<uint32_t>(pe);
    pair = (pair ^ (pair >> 30)) * 0xbf58476d1ce4e5b9u;
    pair = (pair ^ (pair >> 27)) * 0x94d049bb133111ebu;
    return pair ^ (pair >> 31);
  }
  static std::vector<uint8_t> starts(size_t rails, int me, int npes) {
    std::vector<uint8_t> starts(rails > 1 ? static_cast<size_t>(npes) : 0);
    for (size_t pe = 0; pe < starts.size(); ++pe)
      starts[pe] = static_cast<uint8_t>(mix(me, static_cast<int>(pe)) % rails);
    return starts;
  }
  size_t pick_of_several(int pe) noexcept {
    const RailMask usable_now = usable(pe);
    size_t r = after(next_turn(pe), usable_now);
    if (long_bytes_ == 0) return r;
    for (RailMask rest = usable_now; rest != 0; rest &= rest - 1) {
      const auto other = static_cast<size_t>(std::countr_zero(rest));
      if (lanes_[other].meter.in_flight() + kMuchQueued < lanes_[r].meter.in_flight()) r = other;
    }
    return r;
  }
  size_t next_turn(int pe) noexcept {
    turn_ = turn_ + 1 < size() ? turn_ + 1 : 0;
    const size_t r = starts_[static_cast<size_t>(pe)] + turn_;
    return r < size() ? r : r - size();
  }
  RailMask usable_for_long(int pe) const noexcept {
    const RailMask usable_now = usable(pe);
    const RailMask preferred = usable_now & for_long_;
    return preferred != 0 ? preferred : usable_now;
  }
  static RailMask mask_for_long(size_t stripe_rails) noexcept {
    return stripe_rails == 0 || stripe_rails >= kMostRails ? ~RailMask{0} : (RailMask{1} << stripe_rails) - 1;
  }
  size_t window(size_t r) const noexcept {
    const double rate = lanes_[r].meter.rate();
    const size_t least = std::min(2 * tuning_.shortest_piece, tuning_.rail_window);
    if (rate == 0) return tuning_.rail_window;
    const double moved = rate * static_cast<double>(tuning_.rail_window_ns);
    return moved >= static_cast<double>(tuning_.rail_window) ? tuning_.rail_window
                                                             : std::max(least, static_cast<size_t>(moved));
  }
  /// A rail that was not measured yet counts as the fastest. No rail counts as so slow that it is never measured again:
  /// a rail that came back slowly would lie idle for good, judged by the few pieces that it moved then.
  double speed(size_t r) const noexcept {
    double fastest = 0;
    for (const Lane& lane : lanes_) fastest = std::max(fastest, lane.meter.rate());
    if (fastest == 0) return 1;
    const double own = lanes_[r].meter.rate();
    return own == 0 ? fastest : std::max(own, fastest / kSlowest);
  }

  static std::span<R> checked(std::span<R> rails) {
    if (rails.empty() || rails.size() > kMostRails)
      throw Error(
          text("%zu rails: this library drives 1 to %zu per PE; set SHMEM_OFI_MAX_RAILS", rails.size(), kMostRails));
    return rails;
  }

  const std::span<R> rails_;
  const Tuning tuning_;
  const RailMask for_long_;  ///< rails for long operations, as long as one of them reaches the peer
  RailTraits traits_{};
  const std::vector<uint8_t> starts_;  ///< by peer: the rail of the first turn
  size_t turn_ = 0;                    ///< less than size()
  std::vector<PathName> lost_;
  uint64_t long_bytes_ = 0;  ///< in flight, of long operations
  std::vector<Lane> lanes_;
};

}  // namespace railshmem
