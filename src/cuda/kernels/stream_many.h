// SPDX-License-Identifier: BSD-3-Clause
// Stream-ordered calls on elements that lie apart, and on many words. For CUDA, and for threads that stand for kernels.
#pragma once

#include "shmem/device/calls/rma.h"
#include "src/cuda/kernels/stream.h"
#include "src/cuda/kernels/stream_call.h"

namespace railshmem::cuda::kernels {

/// Where the share of a member begins, of `n` things that `size` members share.
RAILSHMEM_HD inline uint64_t share_of(uint64_t n, uint32_t rank, uint32_t size) {
  return n / size * rank + n % size * rank / size;
}

/// The share of this block.
RAILSHMEM_KERNEL inline void run_strided(const StreamStrides& s) {
  using device::BlockScope;
  const WorldView& world = device::this_world();
  const uint32_t block = threads::block_in_grid();
  const uint64_t first = share_of(s.nelems, block, s.nblocks), end = share_of(s.nelems, block + 1, s.nblocks);
  const device::Spacing spacing{end - first, s.element, s.to, s.from};
  auto* const dest = static_cast<unsigned char*>(s.dest) + first * static_cast<uint64_t>(s.to);
  const auto* const source = static_cast<const unsigned char*>(s.source) + first * static_cast<uint64_t>(s.from);
  if (s.way == StridedWay::put) {
    const ChannelStatus status = device::ibput<BlockScope>(world, dest, source, spacing, device::Peer(s.pe));
    return device::finish(world, DeviceCall::iput, status, s.pe, dest);
  }
  const ChannelStatus status = device::ibget<BlockScope>(world, dest, source, spacing, device::Peer(s.pe));
  device::finish(world, DeviceCall::iget, status, s.pe, source);
}

/// Each thread waits for its share of the words; the kernel ends when all have. One word after the other, since a long
/// wait for one leaves what its neighbours on the multiprocessor have cached.
template <class T>
RAILSHMEM_KERNEL inline ChannelStatus wait_for_share(const WorldView& world, const StreamWords& s) {
  using device::BlockScope;
  const auto* const words = static_cast<const T*>(s.words);
  const auto* const values = static_cast<const T*>(s.values);
  const uint64_t end = share_of(s.n, BlockScope::rank() + 1, BlockScope::size());
  RAILSHMEM_NO_UNROLL
  for (uint64_t i = share_of(s.n, BlockScope::rank(), BlockScope::size()); i < end; ++i) {
    if (s.status != nullptr && s.status[i] != 0) continue;
    const T value = values == nullptr ? static_cast<T>(s.value) : values[i];
    T seen;
    const ChannelStatus status = device::wait_until(world, words + i, s.cmp, value, &seen);
    if (status != ChannelStatus::ok) return status;
  }
  return ChannelStatus::ok;
}

RAILSHMEM_KERNEL inline void run_words(const StreamWords& s) {
  const WorldView& world = device::this_world();
  if (world.npes == 0) return;
  wait_as(s.kind, [&](auto word) {
    const ChannelStatus status = wait_for_share<decltype(word)>(world, s);
    device::finish(world, DeviceCall::wait_until, status, world.pe, s.words);
  });
}

}  // namespace railshmem::cuda::kernels
