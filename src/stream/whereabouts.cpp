// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/whereabouts.h"

namespace railshmem {
namespace {

bool overlap(const std::byte* a, const std::byte* b, size_t nbytes) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return first - second < nbytes || second - first < nbytes;
}

/// A number for where blocks lie in the heap; 0 where one is elsewhere.
class PlaceNumber {
 public:
  PlaceNumber(const DeviceMemory& memory, size_t nbytes, bool from_dest) noexcept : memory_(memory), nbytes_(nbytes) {
    add(from_dest ? 1 : 0);
  }
  void add_block(const std::byte* block) noexcept {
    const auto offset = static_cast<size_t>(block - memory_.base());
    in_heap_ &= offset < memory_.nbytes() && nbytes_ <= memory_.nbytes() - offset;
    add(offset);
  }
  uint64_t get() const noexcept { return in_heap_ ? number_ | 1 : 0; }

 private:
  /// FNV-1a, a word at a time, and mixed, so that offsets which differ in few bits do.
  void add(uint64_t word) noexcept {
    number_ = (number_ ^ word) * 0x100000001b3;
    number_ ^= number_ >> 29;
  }
  const DeviceMemory& memory_;
  const size_t nbytes_;
  uint64_t number_ = 0xcbf29ce484222325;
  bool in_heap_ = true;
};

}  // namespace

BlocksPlace place_of_blocks(const Coll& coll, const DeviceMemory& memory) noexcept {
  if (spoils_sources(coll)) return {};
  const int n = coll.team.size(), me = coll.team.rank;
  if (coll.source_for(me) != coll.dest_from(me)) {  // in place the own blocks of members lie at different places
    PlaceNumber number(memory, coll.nbytes, false);
    for (int k = 0; k < (coll.deals() ? n : 1); ++k) number.add_block(coll.source_for(k));
    if (number.get() != 0 || coll.deals()) return {number.get(), false};
  }
  PlaceNumber number(memory, coll.nbytes, true);
  for (int k = 0; k < n; ++k) number.add_block(coll.dest_from(k));
  return {number.get(), true};
}

bool spoils_sources(const Coll& coll) noexcept {
  const int n = coll.team.size();
  if (coll.kind == CollKind::reducescatter) {
    const auto* const dest = static_cast<const std::byte*>(coll.dest);
    for (int k = 0; k < n; ++k)
      if (k != coll.team.rank && overlap(dest, coll.source_for(k), coll.nbytes)) return true;
  }
  if (coll.kind != CollKind::alltoall) return false;
  if (!coll.sources && !coll.dests) return coll.source == coll.dest;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      if (overlap(coll.dest_from(j), coll.source_for(k), coll.nbytes)) return true;
  return false;
}

cuda::Whereabouts direct_whereabouts(const Coll& coll, PeerBuffers& buffers, std::span<const int> pes, Touched touched,
                                     cuda::Stream stream) {
  cuda::Whereabouts where{};
  WhereaboutsOf mine(buffers, pes, coll.team.rank, stream);
  const auto nbytes = [&](int) { return coll.nbytes; };
  if (touched.sources)
    mine.notify(
        where.source, [&](int k) { return coll.source_for(k); }, nbytes);
  if (touched.dests)
    mine.notify(
        where.dest, [&](int k) { return coll.dest_from(k); }, nbytes);
  if (spoils_sources(coll)) mine.not_for_all();
  mine.finish(where);
  return where;
}

}  // namespace railshmem
