// SPDX-License-Identifier: BSD-3-Clause
// Copies of whole blocks by all blocks of a grid: to one place each, or of one block to all members. For CUDA, and for
// threads that stand for kernels.
#pragma once

#include "shmem/detail/copy.h"
#include "src/cuda/kernels/coll_talk.h"

namespace railshmem::cuda::kernels {

/// The calling thread's number among those of the grid, and how many they are.
RAILSHMEM_KERNEL inline uint32_t rank_in_grid() {
  return threads::block_in_row() * threads::row_size() + threads::thread_in_row();
}
RAILSHMEM_KERNEL inline uint32_t threads_in_grid() {
  return threads::blocks_in_row() * threads::row_size();
}

/// Copies n blocks of nbytes, in turns of a slice of each: what stays on this GPU hides behind what goes over links.
/// `to(i)` and `from(i)` are the places of block i; one that is in its place already costs nothing.
template <class To, class From>
RAILSHMEM_KERNEL inline void copy_in_turns(int n, uint64_t nbytes, To to, From from) {
  const uint64_t slice = uint64_t{16} * 2 * kCopyUnroll * threads_in_grid();
  RAILSHMEM_NO_UNROLL
  for (uint64_t at = 0; at < nbytes; at += slice) {
    const uint64_t length = nbytes - at < slice ? nbytes - at : slice;
    RAILSHMEM_NO_UNROLL
    for (int i = 0; i < n; ++i) {
      auto* const out = static_cast<unsigned char*>(to(i));
      const auto* const in = static_cast<const unsigned char*>(from(i));
      if (out != in) copy_together<kCopyUnroll>(rank_in_grid(), threads_in_grid(), out + at, in + at, length);
    }
  }
}

/// Places of one block: at all members, `first` before the others.
struct Places {
  void* const* at;  ///< by member; null where the block is in its place already
  int n, first;
};

/// kCount vectors of this thread, `size` apart: all loads before the first store.
template <int kCount>
RAILSHMEM_KERNEL inline void batch_to_all(const Places& places, uint32_t size, const copying::Bytes16* from,
                                          uint64_t at) {
  copying::Bytes16 held[kCount];
  RAILSHMEM_UNROLL
  for (int i = 0; i < kCount; ++i) held[i] = copying::load(from + at + static_cast<uint64_t>(i) * size);
  RAILSHMEM_NO_UNROLL
  for (int k = 0; k < places.n; ++k) {
    const int member = places.first + k < places.n ? places.first + k : places.first + k - places.n;
    if (places.at[member] == nullptr) continue;
    auto* const to = static_cast<copying::Bytes16*>(places.at[member]) + at;
    RAILSHMEM_UNROLL
    for (int i = 0; i < kCount; ++i) copying::store(to + static_cast<uint64_t>(i) * size, held[i]);
  }
}

template <int kCount>
RAILSHMEM_KERNEL inline void rest_to_all(const Places& places, uint32_t size, const copying::Bytes16* from, uint64_t at,
                                         uint64_t n) {
  if (at + static_cast<uint64_t>(kCount - 1) * size < n) {
    batch_to_all<kCount>(places, size, from, at);
    at += static_cast<uint64_t>(kCount) * size;
  }
  if constexpr (kCount > 1) rest_to_all<kCount / 2>(places, size, from, at, n);
}

/// Copies a block of n vectors to all places: loaded once, stored everywhere.
RAILSHMEM_KERNEL inline void copy_to_all(const Places& places, const copying::Bytes16* from, uint64_t n) {
  const uint32_t size = threads_in_grid();
  const uint64_t turn = static_cast<uint64_t>(kCopyUnroll) * size;
  uint64_t at = rank_in_grid();
  RAILSHMEM_NO_UNROLL
  for (; at + (turn - size) < n; at += turn) batch_to_all<kCopyUnroll>(places, size, from, at);
  rest_to_all<kCopyUnroll / 2>(places, size, from, at, n);
}

}  // namespace railshmem::cuda::kernels
