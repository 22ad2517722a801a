// SPDX-License-Identifier: BSD-3-Clause
// A member's slice of a reduction among mapped members: from the sources of all, into the dests of all.
//
// The time of a load over NVLink limits a slice, so each thread has several vectors of every operand in flight.
#ifndef SHMEM_DEVICE_SLICE_H
#define SHMEM_DEVICE_SLICE_H

#include <stdint.h>

#include "shmem/detail/copy.h"
#include "shmem/device/members.h"

namespace railshmem {
namespace device {

/// Pieces of an operand in flight by thread.
inline constexpr int kSliceUnroll = 4;

template <class T, class Op>
RAILSHMEM_HD inline copying::Bytes16 combine_vectors(copying::Bytes16 a, copying::Bytes16 b) {
  constexpr int kCount = 16 / sizeof(T);
  T left[kCount], right[kCount];
  __builtin_memcpy(left, &a, 16);
  __builtin_memcpy(right, &b, 16);
  RAILSHMEM_UNROLL
  for (int i = 0; i < kCount; ++i) left[i] = Op::of(left[i], right[i]);
  copying::Bytes16 out;
  __builtin_memcpy(&out, left, 16);
  return out;
}

/// What one operation makes of two pieces: vectors of elements, or elements.
template <class T, class Op>
struct ByVector {
  using Piece = copying::Bytes16;
  RAILSHMEM_HD static Piece load(const Piece* from) { return copying::load(from); }
  RAILSHMEM_HD static void store(Piece* to, Piece value) { copying::store(to, value); }
  RAILSHMEM_HD static Piece of(Piece a, Piece b) { return combine_vectors<T, Op>(a, b); }
};
template <class T, class Op>
struct ByElement {
  using Piece = T;
  RAILSHMEM_HD static T load(const T* from) { return *from; }
  RAILSHMEM_HD static void store(T* to, T value) { *to = value; }
  RAILSHMEM_HD static T of(T a, T b) { return Op::of(a, b); }
};

/// The operands of all members, and where results go. Sources and dests lie in one heap.
template <class T>
struct Slice {
  MappedArrays<T> sources;
  int64_t to;           ///< bytes from an element of a member's source to that of its dest
  int32_t first, last;  ///< results go to the members [first, last)
};

/// Pieces [begin, end) from an offset in bytes on, as thread `rank` of `size`.
template <class T, class By>
RAILSHMEM_HD inline void slice_pieces(uint32_t rank, uint32_t size, const Slice<T>& slice, uint64_t offset,
                                      uint64_t begin, uint64_t end) {
  using Piece = typename By::Piece;
  const auto source = [&](int i) {
    return reinterpret_cast<const Piece*>(reinterpret_cast<const unsigned char*>(slice.sources.of(i)) + offset);
  };
  RAILSHMEM_NO_UNROLL
  for (uint64_t at = begin + rank; at < end; at += uint64_t{kSliceUnroll} * size) {
    Piece sum[kSliceUnroll], next[kSliceUnroll];
    // Behind the end the first piece is loaded again, so that no load waits for a branch.
    const auto place = [&](int k) {
      const uint64_t e = at + static_cast<uint64_t>(k) * size;
      return e < end ? e : at;
    };
    RAILSHMEM_UNROLL
    for (int k = 0; k < kSliceUnroll; ++k) sum[k] = By::load(source(0) + place(k));
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < slice.sources.size(); ++i) {
      RAILSHMEM_UNROLL
      for (int k = 0; k < kSliceUnroll; ++k) next[k] = By::load(source(i) + place(k));
      RAILSHMEM_UNROLL
      for (int k = 0; k < kSliceUnroll; ++k) sum[k] = By::of(sum[k], next[k]);
    }
    RAILSHMEM_NO_UNROLL
    for (int i = slice.first; i < slice.last; ++i) {
      auto* const out =
          reinterpret_cast<Piece*>(reinterpret_cast<unsigned char*>(slice.sources.of(i)) + slice.to + offset);
      RAILSHMEM_UNROLL
      for (int k = 0; k < kSliceUnroll; ++k) {
        if (at + static_cast<uint64_t>(k) * size < end) By::store(out + at + static_cast<uint64_t>(k) * size, sum[k]);
      }
    }
  }
}

/// Elements before the first one that begins a vector, of [begin, end) at an address.
template <class T>
RAILSHMEM_HD inline uint64_t elements_before_vector(const T* at, uint64_t nelems) {
  const uint64_t head = (-reinterpret_cast<uintptr_t>(at) & 15) / sizeof(T);
  return head < nelems ? head : nelems;
}

/// Elements [begin, end) of a slice, as thread `rank` of `size`: by vectors where sources and dests are aligned alike,
/// and the few elements before and behind them alone.
template <class T, class Op>
RAILSHMEM_HD inline void slice_share(uint32_t rank, uint32_t size, const Slice<T>& slice, uint64_t begin,
                                     uint64_t end) {
  constexpr uint64_t kCount = 16 / sizeof(T);
  uint64_t behind = begin, last = end;  // of the elements before the vectors
  if ((slice.to & 15) == 0) {
    const uint64_t first = begin + elements_before_vector(slice.sources.of(0) + begin, end - begin);
    const uint64_t vectors = (end - first) / kCount;
    slice_pieces<T, ByVector<T, Op>>(rank, size, slice, first * sizeof(T), 0, vectors);
    behind = first + vectors * kCount;
    last = first;
  }
  RAILSHMEM_NO_UNROLL
  for (int side = 0; side < 2; ++side) {
    slice_pieces<T, ByElement<T, Op>>(rank, size, slice, 0, side == 0 ? begin : behind, side == 0 ? last : end);
    if (last == end) return;
  }
}

/// Where the share of a member begins, of `nelems` elements in all. Shares begin at a vector.
template <class T>
RAILSHMEM_HD inline uint64_t share_begin(const MappedArrays<T>& sources, uint64_t nelems, int rank) {
  if (rank == 0) return 0;
  if (rank == sources.size()) return nelems;
  constexpr uint64_t kCount = 16 / sizeof(T);
  const uint64_t head = elements_before_vector(sources.of(0), nelems);
  const uint64_t vectors = (nelems - head) / kCount;
  return head + vectors * static_cast<uint64_t>(rank) / static_cast<uint64_t>(sources.size()) * kCount;
}

}  // namespace device
}  // namespace railshmem

#endif
