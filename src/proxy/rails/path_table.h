// SPDX-License-Identifier: BSD-3-Clause
// Which rails reach which peer now, and when each path was last seen alive. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace railshmem {

/// Sets of rails are bit masks.
using RailMask = uint32_t;
inline constexpr size_t kMostRails = 32;
inline constexpr size_t kNoRail = ~size_t{0};

/// One rail of a port and one peer.
struct Path {
  uint32_t moves = 0;    ///< completed writes and reads, and answers that came over it: signs of the peer
  uint32_t seen = 0;     ///< moves at the last look
  uint32_t look = 0;     ///< number of the last look
  uint32_t asked = 0;    ///< number of the last look at which a ping went
  uint32_t quiet = 0;    ///< looks in a row at which something was owed and nothing had come
  bool refuses = false;  ///< a post, since the last look
};

struct PathName {
  size_t rail;
  int pe;
};

/// 5 bytes per peer, and 24 per path. Empty for a single rail, which nothing can replace.
class PathTable {
 public:
  PathTable(size_t rails, int npes)
      : rails_(rails),
        all_(static_cast<RailMask>((uint64_t{1} << rails) - 1)),
        up_(rails > 1 ? static_cast<size_t>(npes) : 0, all_),
        recovering_(up_.size()),
        paths_(rails * up_.size()) {}

  RailMask all() const noexcept { return all_; }
  RailMask usable(int pe) const noexcept { return up_.empty() ? all_ : up_[static_cast<size_t>(pe)] & open_; }
  void moved(size_t r, int pe) noexcept {
    if (!paths_.empty()) ++at(r, pe).moves;
  }

  /// A post found no room. Where nothing is in flight that is how a path owes something, too.
  void refused(size_t r, int pe) noexcept {
    if (paths_.empty() || at(r, pe).refuses || refusals_ == refusing_.size()) return;
    at(r, pe).refuses = true;
    refusing_[refusals_++] = {r, pe};
  }

  /// Requests to `pe` must wait until it is known which of the earlier ones it has executed.
  bool recovers(int pe) const noexcept { return !recovering_.empty() && recovering_[static_cast<size_t>(pe)] != 0; }

  // ---- for Failover ------------------------------------------------------------------------------------------------
  Path& at(size_t r, int pe) noexcept { return paths_[static_cast<size_t>(pe) * rails_ + r]; }
  void set_up(size_t r, int pe, bool up) noexcept {
    RailMask& mask = up_[static_cast<size_t>(pe)];
    mask = up ? mask | (RailMask{1} << r) : mask & ~(RailMask{1} << r);
  }
  /// Hands out the paths that refused since the last call; of very many not all.
  template <class Refused>
  void take_refused(Refused&& refused) noexcept {
    for (; refusals_ > 0; --refusals_) {
      const PathName path = refusing_[refusals_ - 1];
      at(path.rail, path.pe).refuses = false;
      refused(path.rail, path.pe);
    }
  }
  bool is_up(size_t r, int pe) const noexcept { return (up_[static_cast<size_t>(pe)] >> r) & 1; }
  void set_recovers(int pe, bool recovers) noexcept { recovering_[static_cast<size_t>(pe)] = recovers; }
  int npes() const noexcept { return static_cast<int>(up_.size()); }
  bool is_open(size_t r) const noexcept { return (open_ >> r) & 1; }
  /// Rails that were closed and have not reached this PE, `me`, since.
  RailMask unproven(int me) noexcept {
    if (unproven_ != 0) [[unlikely]]
      unproven_ &= ~usable(me);
    return unproven_;
  }
  void set_unproven(size_t r) noexcept { unproven_ |= RailMask{1} << r; }
  RailMask up(int pe) const noexcept { return up_[static_cast<size_t>(pe)]; }
  void set_open(size_t r, bool open) noexcept {
    open_ = open ? open_ | (RailMask{1} << r) : open_ & ~(RailMask{1} << r);
  }

 private:
  size_t rails_;
  RailMask all_;
  RailMask open_ = ~RailMask{0};  ///< rails that are not being closed and opened
  RailMask unproven_ = 0;
  std::vector<RailMask> up_;  ///< by peer
  std::vector<uint8_t> recovering_;
  std::vector<Path> paths_;
  std::array<PathName, 64> refusing_{};  // a program waits for one PE, or for its neighbours
  size_t refusals_ = 0;
};

}  // namespace railshmem
