// SPDX-License-Identifier: BSD-3-Clause
// Blocks that lie apart: iput and iget are the blocks of one element.
#ifndef SHMEM_DEVICE_STRIDED_H
#define SHMEM_DEVICE_STRIDED_H

#include <stdint.h>

#include "shmem/device/rma.h"

namespace railshmem {
namespace device {

/// `nblocks` blocks of `nbytes`, from one start to the next `to` bytes apart in dest and `from` bytes in source.
struct Spacing {
  uint64_t nblocks, nbytes;
  int64_t to, from;

  RAILSHMEM_HD bool packed() const {
    return to == static_cast<int64_t>(nbytes) && from == static_cast<int64_t>(nbytes);
  }
  /// From the first block's start to the last one's end, in the array whose blocks are `apart`.
  RAILSHMEM_HD uint64_t extent(int64_t apart) const { return (nblocks - 1) * static_cast<uint64_t>(apart) + nbytes; }
};

/// Copies small blocks by one thread each, large blocks by all threads together.
template <class Scope>
RAILSHMEM_HD inline void copy_blocks(unsigned char* to, const unsigned char* from, const Spacing& s) {
  if (s.nbytes > 64) {
    for (uint64_t i = 0; i < s.nblocks; ++i) copy_by<Scope>(to + i * s.to, from + i * s.from, s.nbytes);
    return;
  }
  for (uint64_t i = Scope::rank(); i < s.nblocks; i += Scope::size()) {
    copy_bytes(to + i * s.to, from + i * s.from, s.nbytes);
  }
}

RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus put_blocks_far(const WorldView& world, HeapPlace place,
                                                                       const unsigned char* source, const Spacing& s,
                                                                       Peer peer) {
  for (uint64_t i = 0; i < s.nblocks; ++i) {
    const ChannelStatus status =
        put_far(world, place, source + i * s.from, s.nbytes, peer, Payload::written, Completion::later);
    if (status != ChannelStatus::ok) return status;
    place.offset += static_cast<uint64_t>(s.to);
  }
  return wait_for_channel(world);
}

RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus get_blocks_far(const WorldView& world, HeapPlace place,
                                                                       unsigned char* dest, const Spacing& s,
                                                                       Peer peer) {
  for (uint64_t i = 0; i < s.nblocks; ++i) {
    const ChannelStatus status = get_far(world, place, dest + i * s.to, s.nbytes, peer, Completion::later);
    if (status != ChannelStatus::ok) return status;
    place.offset += static_cast<uint64_t>(s.from);
  }
  return wait_for_channel(world);
}

/// Returns when `source` may be reused.
template <class Scope = ThreadScope>
RAILSHMEM_HD inline ChannelStatus ibput(const WorldView& world, void* dest, const void* source, const Spacing& s,
                                        Peer peer) {
  if (s.nblocks == 0 || s.nbytes == 0) return ChannelStatus::ok;
  if (s.packed()) return putmem<Scope>(world, dest, source, s.nblocks * s.nbytes, peer, Completion::now);
  const HeapPlace place = reach(world, dest, peer.pe);
  const auto* const from = static_cast<const unsigned char*>(source);
  ChannelStatus status = ChannelStatus::ok;
  if (world.check != 0) status = check_range(world, place, s.extent(s.to), peer.pe);
  if (status == ChannelStatus::ok) {
    if (place.here != nullptr) {
      copy_blocks<Scope>(place.here, from, s);
    } else if (Scope::leads()) {
      status = put_blocks_far(world, place, from, s, peer);
    }
  }
  Scope::sync();
  return status;
}

/// Returns with the data.
template <class Scope = ThreadScope>
RAILSHMEM_HD inline ChannelStatus ibget(const WorldView& world, void* dest, const void* source, const Spacing& s,
                                        Peer peer) {
  if (s.nblocks == 0 || s.nbytes == 0) return ChannelStatus::ok;
  if (s.packed()) return getmem<Scope>(world, dest, source, s.nblocks * s.nbytes, peer, Completion::now);
  const HeapPlace place = reach(world, source, peer.pe);
  auto* const to = static_cast<unsigned char*>(dest);
  ChannelStatus status = ChannelStatus::ok;
  if (world.check != 0) status = check_range(world, place, s.extent(s.from), peer.pe);
  if (status == ChannelStatus::ok) {
    if (place.here != nullptr) {
      copy_blocks<Scope>(to, place.here, s);
    } else if (Scope::leads()) {
      status = get_blocks_far(world, place, to, s, peer);
    }
  }
  Scope::sync();
  return status;
}

}  // namespace device
}  // namespace railshmem

#endif
