// SPDX-License-Identifier: BSD-3-Clause
// Which bytes of a segment are in use: arithmetic on offsets only, it never touches the memory it manages.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace railshmem {

/// Best-fit allocator over the offsets [0, capacity()).
///
/// PEs that make one sequence of calls get one sequence of offsets: no address, clock or hash takes part.
/// The smallest hole that fits is used; of equally small holes, the lowest. A request fails only when no hole holds
/// `nbytes` at a multiple of `align`.
/// O(log blocks). For an alignment above kGranule the search may also visit misaligned holes, all of them shorter than
/// nbytes and that alignment together. Not thread-safe: callers serialise.
class OffsetAllocator {
 public:
  /// Unit of sizes and the least alignment: two objects never share a cache line, so atomics do not fight.
  static constexpr size_t kGranule = 64;
  /// Where objects of kLong bytes and more begin while there is room for that. A warp of a GPU moves 512 bytes at a
  /// time, in lines of 128: where an object begins between two lines, each move takes one line more, over a link too.
  static constexpr size_t kLongAlign = 512;
  static constexpr size_t kLong = 4096;

  /// Manages `nbytes`, rounded down to a multiple of kGranule.
  explicit OffsetAllocator(size_t nbytes);

  /// Returns an offset; empty when `nbytes` is 0, `align` is no power of two, or no hole fits.
  std::optional<size_t> allocate(size_t nbytes, size_t align = kGranule);
  /// False when no allocation starts at `offset`; nothing changes then.
  bool release(size_t offset);
  /// Usable bytes (the request rounded up to kGranule) of the allocation at `offset`; 0 if none exists.
  size_t size_of(size_t offset) const noexcept;
  struct Extent {
    size_t offset;
    size_t nbytes;
  };
  /// The allocation that holds `offset`, where it may begin or not; empty when no allocation does.
  std::optional<Extent> find(size_t offset) const noexcept;
  /// Shrinks the allocation, or grows it into the hole behind. False, with nothing changed, when that hole is too
  /// short.
  bool try_resize(size_t offset, size_t nbytes);

  size_t capacity() const noexcept { return capacity_; }
  size_t bytes_used() const noexcept { return used_; }
  size_t largest_free() const noexcept;
  /// The highest end of any allocation so far: a segment of this size would have served all requests so far.
  size_t high_water() const noexcept { return high_water_; }

  /// Throws Error when the blocks do not tile the range, two holes touch, or the index of holes disagrees. O(n log n).
  void check_invariants() const;

 private:
  struct Block {
    size_t nbytes;
    bool used;
  };
  using Blocks = std::map<size_t, Block>;

  std::optional<size_t> allocate_at(size_t need, size_t align);
  void add_hole(size_t offset, size_t nbytes);
  void drop_hole(Blocks::iterator hole);
  void note_end(size_t end) noexcept;

  size_t capacity_;
  size_t used_ = 0;
  size_t high_water_ = 0;
  Blocks blocks_;                              // by offset; they tile the range
  std::set<std::pair<size_t, size_t>> holes_;  // (nbytes, offset) of the unused blocks
};

}  // namespace railshmem
