// SPDX-License-Identifier: BSD-3-Clause
// The same bytes to all members, all of them mapped: each is loaded once and stored for every member.
#ifndef SHMEM_DEVICE_SPREAD_H
#define SHMEM_DEVICE_SPREAD_H

#include <stdint.h>

#include "shmem/detail/copy.h"
#include "shmem/device/members.h"

namespace railshmem {
namespace device {

/// Vectors in flight by thread; a store for each member follows each load, so few are enough.
inline constexpr int kSpreadUnroll = 4;

/// Thread `rank` of `size`. Source and destinations lie equally far behind a multiple of 16; nbytes is such a multiple.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void spread_vectors(uint32_t rank, uint32_t size, const Members& team,
                                                              const MappedArrays<unsigned char>& dests,
                                                              const unsigned char* source, uint64_t nbytes) {
  using copying::Bytes16;
  const auto* const from = reinterpret_cast<const Bytes16*>(source);
  const uint64_t n = nbytes / sizeof(Bytes16);
  RAILSHMEM_NO_UNROLL
  for (uint64_t at = rank; at < n; at += static_cast<uint64_t>(kSpreadUnroll) * size) {
    Bytes16 held[kSpreadUnroll];
    const bool whole = at + static_cast<uint64_t>(kSpreadUnroll - 1) * size < n;
    RAILSHMEM_UNROLL
    for (int k = 0; k < kSpreadUnroll; ++k) {
      // A turn that is not whole loads its first vector again, and stores it again: the same bytes.
      held[k] = copying::load(
          from + at + (whole || at + static_cast<uint64_t>(k) * size < n ? static_cast<uint64_t>(k) * size : 0));
    }
    RAILSHMEM_NO_UNROLL
    for (int i = 0; i < team.size(); ++i) {
      const int to = (team.rank() + i) % team.size();  // not all at the same member first
      auto* const out = reinterpret_cast<Bytes16*>(dests.of(to)) + at;
      RAILSHMEM_UNROLL
      for (int k = 0; k < kSpreadUnroll; ++k) {
        if (whole || at + static_cast<uint64_t>(k) * size < n)
          copying::store(out + static_cast<uint64_t>(k) * size, held[k]);
      }
    }
  }
}

/// False: not all mapped, or not aligned alike; nothing was done.
template <class Scope>
RAILSHMEM_HD inline bool spread(const WorldView& world, const Members& team, void* dest, const void* source,
                                uint64_t nbytes) {
  const Place place = locate(world, dest, team.pe(0));
  const auto apart = reinterpret_cast<uintptr_t>(dest) ^ reinterpret_cast<uintptr_t>(source);
  if (!team.near() || place.here == nullptr || (apart & 15) != 0 || nbytes < 256) return false;
  if (nbytes > place.heap->nbytes - place.offset) return false;
  const MappedArrays<unsigned char> dests(world, team, place);
  const auto* const from = static_cast<const unsigned char*>(source);
  const uint64_t head = -reinterpret_cast<uintptr_t>(source) & 15, tail = (nbytes - head) & 15;
  if (Scope::leads()) {
    for (int i = 0; i < team.size(); ++i) {
      unsigned char* const to = dests.of(i);
      copying::few(to, from, static_cast<uint32_t>(head));
      copying::few(to + nbytes - tail, from + nbytes - tail, static_cast<uint32_t>(tail));
    }
  }
  MappedArrays<unsigned char> middle = dests;
  middle.move(head);
  spread_vectors(Scope::rank(), Scope::size(), team, middle, from + head, nbytes - head - tail);
  return true;
}

}  // namespace device
}  // namespace railshmem

#endif
