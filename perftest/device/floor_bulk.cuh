// SPDX-License-Identifier: BSD-3-Clause
// A copy by bulk asynchronous copies, through shared memory: one thread of a block issues them, the block's other
// threads and its registers take no part.
#pragma once

#include "perftest/device/floor_copy.cuh"
#include "perftest/device/threads.cuh"

namespace railshmem::perf::gpu {

constexpr uint32_t kBulkPiece = 16 * 1024;
constexpr uint32_t kBulkStages = 8;  ///< pieces in shared memory
constexpr uint32_t kBulkAhead = 4;   ///< pieces on their way there, before one is written on
constexpr uint32_t kBulkShared = kBulkPiece * kBulkStages;

__device__ inline uint32_t shared_address(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

/// Pieces of one block, numbered over all messages.
class BulkCopier {
 public:
  /// For thread 0 only.
  __device__ BulkCopier(char* stages, uint64_t* arrived) : stages_(stages), arrived_(arrived) {
    if (threadIdx.x != 0) return;
    for (uint32_t i = 0; i < kBulkStages; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&arrived_[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }

  /// Returns false where the deadline passed.
  __device__ bool copy(char* to, const char* from, uint64_t nbytes, uint64_t deadline) {
    const auto pieces = static_cast<uint32_t>((nbytes + kBulkPiece - 1) / kBulkPiece);
    const auto length = [nbytes](uint32_t piece) {
      const uint64_t left = nbytes - uint64_t{piece} * kBulkPiece;
      return static_cast<uint32_t>(left < kBulkPiece ? left : kBulkPiece);
    };
#pragma unroll 1
    for (uint32_t turn = 0; turn < pieces + kBulkAhead; ++turn) {
      if (turn < pieces) {
        // The piece that was in this stage has been read.
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kBulkStages - kBulkAhead - 1) : "memory");
        fetch(first_ + turn, from + uint64_t{turn} * kBulkPiece, length(turn));
      }
      if (turn < kBulkAhead) continue;
      const uint32_t piece = turn - kBulkAhead;
      if (!await(first_ + piece, deadline)) return false;
      write(first_ + piece, to + uint64_t{piece} * kBulkPiece, length(piece));
    }
    first_ += pieces;
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    return true;
  }

 private:
  __device__ char* stage(uint32_t piece) const {
    return stages_ + (piece % kBulkStages) * kBulkPiece;
  }
  __device__ uint64_t* arrived(uint32_t piece) const {
    return &arrived_[piece % kBulkStages];
  }

  __device__ void fetch(uint32_t piece, const char* from, uint32_t nbytes) const {
    const uint32_t barrier = shared_address(arrived(piece));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(nbytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(stage(piece))),
                 "l"(from), "r"(nbytes), "r"(barrier)
                 : "memory");
  }
  __device__ bool await(uint32_t piece, uint64_t deadline) const {
    const uint32_t barrier = shared_address(arrived(piece));
    const uint32_t parity = piece / kBulkStages & 1;
    uint32_t there = 0;
    while (true) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(there)
                   : "r"(barrier), "r"(parity)
                   : "memory");
      if (there != 0) return true;
      if (now_ns() > deadline) return false;
    }
  }
  __device__ void write(uint32_t piece, char* to, uint32_t nbytes) const {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(stage(piece))), "r"(nbytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }

  char* stages_;
  uint64_t* arrived_;
  uint32_t first_ = 0;
};

}  // namespace railshmem::perf::gpu
