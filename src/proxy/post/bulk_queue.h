// SPDX-License-Identifier: BSD-3-Clause
// Long puts and gets whose pieces are on their way into the rails, oldest first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/align.h"
#include "src/proxy/post/cell_pool.h"
#include "src/proxy/rails/tuning.h"

namespace railshmem {

struct Bulk {
  OpCell* whole;
  size_t piece;         ///< bytes of every piece but the last
  bool across = false;  ///< see Transfer::across_pieces
  size_t posted = 0;

  size_t next_piece() const noexcept { return std::min(piece, whole->what.nbytes - posted); }
  bool all_posted() const noexcept { return posted == whole->what.nbytes; }
};

/// Fixed capacity: nothing here allocates after construction.
class BulkQueue {
 public:
  static constexpr size_t kMost = 64;  // as many long operations as keep all rails busy many times over

  /// Each keeps one of `cells` and needs others for its pieces.
  explicit BulkQueue(size_t cells) : most_(std::clamp<size_t>(cells / 2, 1, kMost)) { bulks_.reserve(most_); }
  bool full() const noexcept { return bulks_.size() == most_; }
  bool empty() const noexcept { return bulks_.empty(); }
  void add(OpCell& whole, size_t piece, bool across = false) noexcept {
    bulks_.push_back({&whole, piece, across});
    unposted_ += whole.what.nbytes;
  }
  void posted(Bulk& bulk, size_t nbytes) noexcept {
    bulk.posted += nbytes;
    unposted_ -= nbytes;
  }
  void remove(size_t i) noexcept { bulks_.erase(bulks_.begin() + static_cast<std::ptrdiff_t>(i)); }
  void clear() noexcept {
    bulks_.clear();
    unposted_ = 0;
  }

  size_t size() const noexcept { return bulks_.size(); }
  Bulk& operator[](size_t i) noexcept { return bulks_[i]; }
  /// Bytes of all that are not posted yet.
  uint64_t unposted() const noexcept { return unposted_; }

  /// A slow rail takes it in shorter pieces, of whole pages.
  static size_t shortened(size_t piece, size_t longest) noexcept {
    return piece <= longest || longest < kPage ? piece : longest / kPage * kPage;
  }

  /// Several pieces per rail, whole pages, within the bounds of `tuning` and at most `max`.
  static size_t piece_of(size_t nbytes, size_t rails, const Tuning& tuning, size_t max) noexcept {
    constexpr size_t kPiecesPerRail = 4;  // the last ones even out what the measured speeds got wrong
    const size_t wanted = nbytes / (rails * kPiecesPerRail);
    const size_t piece = align_up(std::clamp(wanted, tuning.shortest_piece, tuning.longest_piece), kPage);
    return std::min(piece, max);
  }

 private:
  static constexpr size_t kPage = 4096;

  const size_t most_;
  std::vector<Bulk> bulks_;
  uint64_t unposted_ = 0;
};

}  // namespace railshmem
