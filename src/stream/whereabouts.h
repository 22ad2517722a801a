// SPDX-License-Identifier: BSD-3-Clause
// Where the other members of a collective find this member's buffers.
#pragma once

#include <span>

#include "src/cuda/kernels/coll_call.h"
#include "src/gpu/device_memory.h"
#include "src/gpu/peer_buffers.h"
#include "src/stream/coll.h"

namespace railshmem {

/// What the members read and write of each other.
struct Touched {
  bool sources;  ///< they read blocks of sources
  bool dests;    ///< they write to dests
};

/// Fills in what a member tells the others. `pes` are the members' PEs. Throws Error where a registered buffer is gone.
class WhereaboutsOf {
 public:
  /// `stream`: what the collective is given to. A graph that captures it keeps the buffers registered.
  WhereaboutsOf(PeerBuffers& buffers, std::span<const int> pes, int rank, cuda::Stream stream) noexcept
      : buffers_(buffers), pes_(pes), rank_(rank), stream_(stream) {}

  /// Tells member k address(k), of nbytes(k) bytes; none where that is 0.
  template <class AddressOf, class SizeOf>
  void notify(uint64_t (&words)[cuda::kMostMembers], AddressOf&& address, SizeOf&& nbytes) {
    PeerView view;
    for (int k = 0; k < static_cast<int>(pes_.size()); ++k) {
      const size_t n = nbytes(k);
      if (n == 0) continue;
      // Mostly it is one buffer for all members.
      if (k == 0 || address(k) != address(k - 1) || n != nbytes(k - 1))
        view = buffers_.find(pes_, address(k), n, stream_);
      if (view.where != PeerView::Where::nowhere) {
        words[k] = view.at_peer[k];
      } else if (k != rank_) {
        for_all_ = false;
      }
    }
  }
  void not_for_all() noexcept { for_all_ = false; }
  /// Marks the words where all members reach what they need.
  void finish(cuda::Whereabouts& where) const noexcept {
    for (size_t k = 0; k < pes_.size() && for_all_; ++k) where.source[k] |= cuda::Whereabouts::kForAll;
  }

 private:
  PeerBuffers& buffers_;
  const std::span<const int> pes_;
  const int rank_;
  const cuda::Stream stream_;
  bool for_all_ = true;
};

/// Whether blocks that come to this member may overwrite blocks of its source that another member still reads: an
/// all-to-all in place, and a reduce-scatter whose result is in another member's part. Packets and chunks do these.
bool spoils_sources(const Coll& coll) noexcept;

/// Which blocks of this member the others fetch by engines, and a number that members have in common whose blocks lie
/// alike in their heaps.
struct BlocksPlace {
  uint64_t number = 0;     ///< 0: some block is elsewhere
  bool from_dest = false;  ///< they fetch from dest, where the own block is or is copied to first; else from the source
};
BlocksPlace place_of_blocks(const Coll& coll, const DeviceMemory& memory) noexcept;

/// Of a collective whose kernel goes from buffer to buffer.
cuda::Whereabouts direct_whereabouts(const Coll& coll, PeerBuffers& buffers, std::span<const int> pes, Touched touched,
                                     cuda::Stream stream);

}  // namespace railshmem
