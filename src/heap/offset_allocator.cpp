// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/offset_allocator.h"

#include <algorithm>
#include <iterator>

#include "src/base/align.h"
#include "src/base/error.h"

namespace railshmem {

OffsetAllocator::OffsetAllocator(size_t nbytes) : capacity_(align_down(nbytes, kGranule)) {
  if (capacity_ != 0) add_hole(0, capacity_);
}

std::optional<size_t> OffsetAllocator::allocate(size_t nbytes, size_t align) {
  // Before rounding: a request near SIZE_MAX would wrap to a small one.
  if (nbytes == 0 || nbytes > capacity_ || !is_power_of_two(align)) return std::nullopt;
  const size_t need = align_up(nbytes, kGranule);
  align = std::max(align, kGranule);
  if (need >= kLong && align < kLongAlign)
    if (const auto offset = allocate_at(need, kLongAlign)) return offset;
  return allocate_at(need, align);
}

std::optional<size_t> OffsetAllocator::allocate_at(size_t need, size_t align) {
  for (auto hole = holes_.lower_bound({need, 0}); hole != holes_.end(); ++hole) {
    const auto [length, offset] = *hole;
    const size_t pad = (~offset + 1) & (align - 1);  // modular: align_up() could wrap for the largest alignments
    const size_t start = offset + pad;
    if (pad > length || length - pad < need) continue;
    drop_hole(blocks_.find(offset));
    if (pad != 0) add_hole(offset, pad);
    if (length - pad > need) add_hole(start + need, length - pad - need);
    blocks_.insert_or_assign(start, Block{need, true});
    used_ += need;
    note_end(start + need);
    return start;
  }
  return std::nullopt;
}

bool OffsetAllocator::release(size_t offset) {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end() || !block->second.used) return false;
  size_t start = offset;
  size_t nbytes = block->second.nbytes;
  used_ -= nbytes;
  if (const auto next = std::next(block); next != blocks_.end() && !next->second.used) {
    nbytes += next->second.nbytes;
    drop_hole(next);
  }
  if (block != blocks_.begin()) {
    if (const auto before = std::prev(block); !before->second.used) {
      start = before->first;
      nbytes += before->second.nbytes;
      drop_hole(before);
    }
  }
  blocks_.erase(block);
  add_hole(start, nbytes);
  return true;
}

size_t OffsetAllocator::size_of(size_t offset) const noexcept {
  const auto block = blocks_.find(offset);
  return block == blocks_.end() || !block->second.used ? 0 : block->second.nbytes;
}

std::optional<OffsetAllocator::Extent> OffsetAllocator::find(size_t offset) const noexcept {
  const auto behind = blocks_.upper_bound(offset);
  if (behind == blocks_.begin()) return std::nullopt;
  const auto& [begin, block] = *std::prev(behind);
  if (!block.used || offset - begin >= block.nbytes) return std::nullopt;
  return Extent{begin, block.nbytes};
}

bool OffsetAllocator::try_resize(size_t offset, size_t nbytes) {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end() || !block->second.used || nbytes == 0 || nbytes > capacity_) return false;
  const size_t had = block->second.nbytes;
  const size_t need = align_up(nbytes, kGranule);
  if (need == had) return true;
  const auto next = std::next(block);
  const bool hole_behind = next != blocks_.end() && !next->second.used;
  const size_t room = had + (hole_behind ? next->second.nbytes : 0);
  if (need > room) return false;
  if (hole_behind) drop_hole(next);
  block->second.nbytes = need;
  if (room > need) add_hole(offset + need, room - need);
  used_ = used_ - had + need;
  note_end(offset + need);
  return true;
}

size_t OffsetAllocator::largest_free() const noexcept {
  return holes_.empty() ? 0 : holes_.rbegin()->first;
}

void OffsetAllocator::add_hole(size_t offset, size_t nbytes) {
  blocks_.insert_or_assign(offset, Block{nbytes, false});
  holes_.emplace(nbytes, offset);
}

void OffsetAllocator::drop_hole(Blocks::iterator hole) {
  holes_.erase({hole->second.nbytes, hole->first});
  blocks_.erase(hole);
}

void OffsetAllocator::note_end(size_t end) noexcept {
  high_water_ = std::max(high_water_, end);
}

void OffsetAllocator::check_invariants() const {
  size_t expected = 0;
  size_t used = 0;
  size_t holes = 0;
  bool after_hole = false;
  for (const auto& [offset, block] : blocks_) {
    if (offset != expected) throw Error(text("block at %zu, expected at %zu", offset, expected));
    if (block.nbytes == 0 || block.nbytes % kGranule != 0) throw Error(text("block of %zu bytes", block.nbytes));
    if (!block.used && after_hole) throw Error(text("two holes touch at %zu", offset));
    if (!block.used && !holes_.contains({block.nbytes, offset})) throw Error(text("hole at %zu not indexed", offset));
    after_hole = !block.used;
    (block.used ? used : holes) += block.used ? block.nbytes : 1;
    expected = offset + block.nbytes;
  }
  if (expected != capacity_) throw Error(text("blocks end at %zu of %zu", expected, capacity_));
  if (used != used_) throw Error(text("%zu bytes in use, %zu counted", used, used_));
  if (holes != holes_.size()) throw Error(text("%zu holes, %zu indexed", holes, holes_.size()));
  if (high_water_ > capacity_ || high_water_ < used_) throw Error(text("high water at %zu", high_water_));
}

}  // namespace railshmem
