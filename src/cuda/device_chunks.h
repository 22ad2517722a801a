// SPDX-License-Identifier: BSD-3-Clause
// The memory behind the device heaps of a node: this PE's memory grows chunk by chunk, and peers' chunks are imported
// once.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "src/base/fd_offers.h"
#include "src/cuda/device_arena.h"

namespace railshmem::cuda {

/// What a PE tells its node about one of its chunks. Plain bytes for an allgather.
struct ChunkCard {
  uint64_t at = 0;  ///< in the owner's slot
  uint64_t nbytes = 0;
  Uuid device{};
  FdTicket fd;
};
static_assert(std::is_trivially_copyable_v<ChunkCard> && sizeof(ChunkCard) == 120);

struct OwnChunk {
  size_t at;
  PhysicalMemory memory;
};

///     ChunkCard card = chunks.grow(nbytes);      // each PE of the node, with equal nbytes
///     ... exchange the cards ...
///     chunks.import(slot, card);                 // each peer's
///     ... all have imported ...
///     chunks.close_offers();
///
/// Not thread-safe: allocation is collective.
class DeviceChunks {
 public:
  /// Chunks begin `begin` bytes into each slot.
  DeviceChunks(const DeviceContext& gpu, DeviceArena& arena, size_t my_slot, FdOffers& offers, size_t begin = 0)
      : gpu_(gpu), arena_(arena), my_slot_(my_slot), offers_(offers), begin_(begin), imported_(arena.nslots()) {}
  DeviceChunks(const DeviceChunks&) = delete;

  /// Adds memory behind the present chunks, rounded up to the granularity, and maps it. The memory is not zeroed.
  /// Throws Error, also when the slot is full, and leaves the heap as it was.
  ChunkCard grow(size_t nbytes);
  /// Undoes the last grow(), because a peer could not follow. No peer may have imported the chunk. Throws Error.
  void take_back(const ChunkCard& card);
  /// Maps a peer's chunk; does nothing when it is mapped already. Throws Error.
  void import(size_t slot, const ChunkCard& card);
  /// Why this GPU cannot use the memory of `device`; empty: it can, as far as the driver tells without trying.
  std::string unreachable(const Uuid& device) const;
  /// Withdraws the descriptors: peers take none any more.
  void close_offers() noexcept { offered_.clear(); }

  const std::vector<OwnChunk>& own() const noexcept { return own_; }
  size_t nbytes() const noexcept { return own_.empty() ? 0 : own_.back().at + own_.back().memory.nbytes() - begin_; }
  /// How much of a peer's slot is mapped from `begin` on.
  size_t imported(size_t slot) const noexcept { return imported_[slot]; }

 private:
  const DeviceContext& gpu_;
  DeviceArena& arena_;
  const size_t my_slot_;
  FdOffers& offers_;
  const size_t begin_;
  std::vector<OwnChunk> own_;
  std::vector<FdOffer> offered_;  ///< descriptors of the latest chunks
  std::vector<size_t> imported_;  ///< bytes of each slot, from begin_ on
};

}  // namespace railshmem::cuda
