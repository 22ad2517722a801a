// SPDX-License-Identifier: BSD-3-Clause
// Where the other members of a collective find this member's buffers.
#pragma once

#include <span>

#include "src/cuda/kernels/coll_call.h"
#include "src/gpu/peer_buffers.h"
#include "src/stream/coll.h"

namespace railshmem {

/// Where peers see buffers of a call. What a captured call names is held by the graph.
class BufferFinder {
 public:
  BufferFinder(PeerBuffers& buffers, std::span<const int> pes, cuda::Stream stream, bool captured) noexcept
      : buffers_(buffers), pes_(pes), stream_(stream), captured_(captured) {}
  PeerView find(const void* address, size_t nbytes) const {
    return captured_ ? buffers_.find_captured(pes_, address, nbytes, stream_) : buffers_.find(pes_, address, nbytes);
  }
  size_t members() const noexcept { return pes_.size(); }

 private:
  PeerBuffers& buffers_;
  const std::span<const int> pes_;  ///< the members', by rank
  const cuda::Stream stream_;
  const bool captured_;
};

/// What the members read and write of each other.
struct Touched {
  bool sources;  ///< they read blocks of sources
  bool dests;    ///< they write to dests
};

/// Fills in what a member tells the others. Throws Error where a registered buffer is gone.
class WhereaboutsOf {
 public:
  WhereaboutsOf(const BufferFinder& buffers, int rank) noexcept : buffers_(buffers), rank_(rank) {}

  /// Tells member k address(k), of nbytes(k) bytes; none where that is 0.
  template <class AddressOf, class SizeOf>
  void tell(uint64_t (&words)[cuda::kMostMembers], AddressOf&& address, SizeOf&& nbytes) {
    PeerView view;
    for (int k = 0; k < static_cast<int>(buffers_.members()); ++k) {
      const size_t n = nbytes(k);
      if (n == 0) continue;
      // Mostly it is one buffer for all members.
      if (k == 0 || address(k) != address(k - 1) || n != nbytes(k - 1)) view = buffers_.find(address(k), n);
      if (view.where != PeerView::Where::nowhere) {
        words[k] = view.at_peer[k];
      } else if (k != rank_) {
        for_all_ = false;
      }
    }
  }
  void not_for_all() noexcept { for_all_ = false; }
  /// Forgets what members cannot reach.
  void start_again() noexcept { for_all_ = true; }
  /// Marks the words where all members reach what they need.
  void finish(cuda::Whereabouts& where) const noexcept {
    for (size_t k = 0; k < buffers_.members() && for_all_; ++k) where.source[k] |= cuda::Whereabouts::kForAll;
  }
  bool for_all() const noexcept { return for_all_; }

 private:
  const BufferFinder& buffers_;
  const int rank_;
  bool for_all_ = true;
};

/// Whether blocks that come to this member may overwrite blocks of its source that another member still reads: an
/// all-to-all in place, and a reduce-scatter whose result lies in another member's part. Packets do these.
bool spoils_sources(const Coll& coll) noexcept;

/// Of a collective whose kernel goes from buffer to buffer.
cuda::Whereabouts direct_whereabouts(const Coll& coll, const BufferFinder& buffers, Touched touched);

}  // namespace railshmem
