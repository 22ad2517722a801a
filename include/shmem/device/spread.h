// SPDX-License-Identifier: BSD-3-Clause
// One block of bytes to all members, all of them mapped: each byte is loaded once and stored for every member.
#ifndef SHMEM_DEVICE_SPREAD_H
#define SHMEM_DEVICE_SPREAD_H

#include <stdint.h>

#include "shmem/detail/copy.h"
#include "shmem/device/members.h"

namespace railshmem {
namespace device {

/// Stores bytes [begin, end) of the source to all members, as thread `rank` of `size`; source + begin and source + end
/// are multiples of 16. kUnroll vectors are in flight by thread. A store for each member follows each load, so few
/// vectors are enough where threads are many.
template <int kUnroll>
RAILSHMEM_HD inline void spread_vectors(uint32_t rank, uint32_t size, const MappedArrays<unsigned char>& dests,
                                        const unsigned char* source, uint64_t begin, uint64_t end) {
  using copying::Bytes16;
  const uint64_t step = static_cast<uint64_t>(size) * sizeof(Bytes16);
  RAILSHMEM_NO_UNROLL
  for (uint64_t at = begin + rank * sizeof(Bytes16); at < end; at += kUnroll * step) {
    Bytes16 held[kUnroll];
    RAILSHMEM_UNROLL
    for (int k = 0; k < kUnroll; ++k) {
      // Behind the end the first vector is loaded again, so that no load waits for a branch.
      const uint64_t from = at + static_cast<uint64_t>(k) * step < end ? at + static_cast<uint64_t>(k) * step : at;
      held[k] = copying::load(reinterpret_cast<const Bytes16*>(source + from));
    }
    RAILSHMEM_NO_UNROLL
    for (int i = 0, to = dests.rank(); i < dests.size(); ++i, to = to + 1 == dests.size() ? 0 : to + 1) {
      unsigned char* const out = dests.of(to) + at;
      RAILSHMEM_UNROLL
      for (int k = 0; k < kUnroll; ++k) {
        if (at + static_cast<uint64_t>(k) * step < end) {
          copying::store(reinterpret_cast<Bytes16*>(out + static_cast<uint64_t>(k) * step), held[k]);
        }
      }
    }
  }
}

/// Stores this thread's share to all members; dests and source are aligned alike.
template <int kUnroll>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void spread_share(uint32_t rank, uint32_t size,
                                                            MappedArrays<unsigned char> dests,
                                                            const unsigned char* from, uint64_t nbytes) {
  const auto head = static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(from) & 15);
  const auto tail = static_cast<uint32_t>((nbytes - head) & 15);
  for (auto i = static_cast<int>(rank); i < dests.size() && head + tail != 0; i += static_cast<int>(size)) {
    copying::edge<false, 16>(dests.of(i), from, head);
    copying::edge<true, 16>(dests.of(i) + (nbytes - tail), from + (nbytes - tail), tail);
  }
  spread_vectors<kUnroll>(rank, size, dests, from, head, nbytes - tail);
}

/// Returns false, having done nothing, where some member is not mapped, dest and source are not aligned alike, or the
/// bytes are few.
template <class Scope>
RAILSHMEM_HD inline bool spread(const WorldView& world, const Members& team, void* dest, const void* source,
                                uint64_t nbytes) {
  const HeapPlace place = locate(world, dest, team.pe(0));
  const auto apart = reinterpret_cast<uintptr_t>(dest) ^ reinterpret_cast<uintptr_t>(source);
  if (!team.near() || place.here == nullptr || (apart & 15) != 0 || nbytes < 256) return false;
  if (nbytes > place.heap->nbytes - place.offset) return false;
  spread_share<Scope::kSpreadUnroll>(Scope::rank(), Scope::size(),
                                     MappedArrays<unsigned char>(world, team.row(), place),
                                     static_cast<const unsigned char*>(source), nbytes);
  return true;
}

}  // namespace device
}  // namespace railshmem

#endif
