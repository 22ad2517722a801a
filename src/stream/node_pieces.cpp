// SPDX-License-Identifier: BSD-3-Clause
// Collectives that go piece by piece, for consumers and producers that run at the same time.
#include <algorithm>
#include <vector>

#include "src/base/error.h"
#include "src/cuda/context_guard.h"
#include "src/stream/node_collectives.h"
#include "src/stream/whereabouts.h"

namespace railshmem {
namespace {

constexpr cuda::CollKernels::Grid kBegin{1, 128};
constexpr cuda::CollKernels::Grid kEnd{1, 128};
constexpr unsigned kPieceBlocks = 16;  // they wait on multiprocessors, which the producer needs too
constexpr unsigned kPieceThreads = 512;

size_t count_pieces(const Coll& coll, size_t piece_nbytes) noexcept {
  return (coll.nbytes + piece_nbytes - 1) / piece_nbytes;
}

}  // namespace

/// Throws Error where an address is not in the heap.
const void* NodeCollectives::must_have(const Coll& coll, const char* argument, const void* address, size_t nbytes,
                                       int member) const {
  if (const void* const found = of_member(coll, address, nbytes, member)) return found;
  throw Error(text("%s %p does not lie in the heap of GPU memory with its %zu bytes; allocate it with shmem_malloc",
                   argument, address, nbytes));
}

void NodeCollectives::gather_pieces(const Coll& coll, size_t piece_nbytes, uint64_t* arrived, cuda::Stream stream) {
  const size_t pieces = count_pieces(coll, piece_nbytes);
  const TeamScratch& scratch = scratches_.for_call(coll, stream);
  const cuda::CollMembers& members = scratch.members();
  const int me = members.me;
  if (coll.source_for(me) != coll.dest_from(me)) must_have(coll, "source", coll.source_for(me), coll.nbytes, me);
  const BlocksPlace place = place_of_blocks(coll, memory_);
  cuda::EngineMoveCall call{{members, coll.nbytes, {}, {}}, place.number, arrived, -1};
  const auto* const number =
      members.scratch + static_cast<size_t>(me) * members.stride + cuda::ScratchLayout(members.n).call();
  std::vector<DeviceCopy> own, fetched;
  for (int i = 0; i < members.n; ++i) {
    const int k = (me + i) % members.n;
    std::byte* const dest = coll.dest_from(k);
    call.move.source.at[k] = coll.source_for(k);
    call.move.dest.at[k] = dest;
    must_have(coll, "dest", dest, coll.nbytes, me);
    const std::byte* const like = place.from_dest ? dest : coll.source_for(me);
    const void* const from = k == me ? coll.source_for(me) : must_have(coll, "source", like, coll.nbytes, k);
    std::vector<DeviceCopy>& copies = k == me ? own : fetched;
    for (size_t p = 0; p < pieces; ++p) {
      const size_t at = p * piece_nbytes, nbytes = std::min(piece_nbytes, coll.nbytes - at);
      if (dest != from) copies.push_back({dest + at, static_cast<const std::byte*>(from) + at, nbytes});
      copies.push_back({arrived + static_cast<size_t>(k) * pieces + p, number, sizeof(uint64_t)});
    }
  }
  const cuda::ContextGuard guard(memory_.gpu());
  must(kernels_.begin(call, kBegin, stream), "cuLaunchKernel");
  const auto fetch = [&](cuda::Stream on) { return sides_.copy(fetched, on); };
  const auto keep_own = [&](cuda::Stream on) { return sides_.copy(own, on); };
  must(sides_.give(fetch, keep_own, stream), "cuMemcpyAsync");
  must(kernels_.end(call, kEnd, stream), "cuLaunchKernel");
}

void NodeCollectives::combine_pieces(const Coll& coll, size_t piece_nbytes, const uint64_t* ready, uint64_t* done,
                                     cuda::Stream stream) {
  const size_t pieces = count_pieces(coll, piece_nbytes);
  const TeamScratch& scratch = scratches_.for_call(coll, stream);
  const cuda::CollMembers& members = scratch.members();
  cuda::PieceCombineCall call{};
  call.members = members;
  call.op = coll.op;
  call.kind = coll.type;
  call.scaling = coll.scaling;
  call.factor = coll.factor;
  call.nbytes = coll.nbytes;
  call.piece = piece_nbytes;
  call.dest = coll.dest;
  call.done = done;
  const uint64_t* const mine = ready + static_cast<size_t>(members.me) * pieces;
  for (int k = 0; k < members.n; ++k) {
    call.source.at[k] = must_have(coll, "source", coll.source_for(members.me), coll.nbytes, k);
    call.ready[k] = static_cast<const uint64_t*>(must_have(coll, "ready", mine, pieces * sizeof(uint64_t), k));
  }
  const unsigned most = coll.max_blocks == 0 ? kPieceBlocks : std::min(kPieceBlocks * 8, coll.max_blocks);
  const auto blocks = static_cast<unsigned>(std::clamp<size_t>(pieces, 1, most));
  const cuda::ContextGuard guard(memory_.gpu());
  must(kernels_.give(call, {blocks, kPieceThreads}, stream), "cuLaunchKernel");
}

}  // namespace railshmem
