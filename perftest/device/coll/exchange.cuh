// SPDX-License-Identifier: BSD-3-Clause
// Symmetric buffers between which every PE moves one block to or from every other, all PEs at once, without a library:
// what the bytes of an all-gather, a reduce-scatter or an all-to-all cost at least.
#pragma once

#include "perftest/device/context.cuh"

namespace railshmem::perf::gpu::coll {

class Exchange {
 public:
  /// For vectors of at most `largest` bytes. Collective; throws where a PE's memory is not mapped here.
  Exchange(const Context& context, uint64_t largest)
      : pe_(context.pe), npes_(context.npes), vector_(largest), block_(largest / static_cast<uint64_t>(npes_) + 16) {
    for (int i = 1; i < npes_; ++i) {
      const int other = (pe_ + i) % npes_;  // PEs begin with different ones
      peers_.push_back({other, static_cast<char*>(context.need_at(vector_.as<>(), other)),
                        static_cast<char*>(context.need_at(block_.as<>(), other))});
      if (i > 1) sides_.push_back({make_stream(), make_event()});
    }
  }

  struct Peer {
    int pe;
    char* vector;  ///< room for a block of each PE, by rank
    char* block;   ///< what the peer gives
  };
  const std::vector<Peer>& peers() const { return peers_; }
  char* vector() const { return vector_.as<>(); }
  char* block() const { return block_.as<>(); }
  int pe() const { return pe_; }

  /// Writes this PE's block to all others by copy engines, each copy on a stream of its own; done in the order of
  /// `stream`.
  void enqueue_copies(uint64_t nbytes, cudaStream_t stream) const {
    if (!sides_.empty()) CUDA_CHECK(cudaEventRecord(begun_.get(), stream));
    for (size_t i = 0; i < peers_.size(); ++i) {
      const cudaStream_t on = i == 0 ? stream : sides_[i - 1].stream.get();
      if (i > 0) CUDA_CHECK(cudaStreamWaitEvent(on, begun_.get(), 0));
      char* const to = peers_[i].vector + static_cast<uint64_t>(pe_) * nbytes;
      CUDA_CHECK(cudaMemcpyAsync(to, block(), nbytes, cudaMemcpyDefault, on));
      if (i > 0) CUDA_CHECK(cudaEventRecord(sides_[i - 1].done.get(), on));
    }
    for (const Side& side : sides_) CUDA_CHECK(cudaStreamWaitEvent(stream, side.done.get(), 0));
  }

 private:
  struct Side {
    Stream stream;
    Event done;
  };
  int pe_;
  int npes_;
  Symmetric vector_;
  Symmetric block_;
  std::vector<Peer> peers_;
  std::vector<Side> sides_;
  Event begun_ = make_event();
};

}  // namespace railshmem::perf::gpu::coll
