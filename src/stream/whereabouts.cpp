// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/whereabouts.h"

namespace railshmem {
namespace {

bool overlap(const std::byte* a, const std::byte* b, size_t nbytes) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return first - second < nbytes || second - first < nbytes;
}

}  // namespace

bool spoils_sources(const Coll& coll) noexcept {
  const int n = coll.team.size();
  if (coll.kind == CollKind::reducescatter) {
    const auto* const dest = static_cast<const std::byte*>(coll.dest);
    for (int k = 0; k < n; ++k)
      if (k != coll.team.rank && overlap(dest, coll.source_for(k), coll.nbytes)) return true;
  }
  if (coll.kind != CollKind::alltoall) return false;
  if (!coll.sources && !coll.dests) return coll.source == coll.dest;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      if (overlap(coll.dest_from(j), coll.source_for(k), coll.nbytes)) return true;
  return false;
}

cuda::Whereabouts direct_whereabouts(const Coll& coll, PeerBuffers& buffers, std::span<const int> pes, Touched touched,
                                     cuda::Stream stream) {
  cuda::Whereabouts where{};
  WhereaboutsOf mine(buffers, pes, coll.team.rank, stream);
  const auto nbytes = [&](int) { return coll.nbytes; };
  if (touched.sources)
    mine.tell(
        where.source, [&](int k) { return coll.source_for(k); }, nbytes);
  if (touched.dests)
    mine.tell(
        where.dest, [&](int k) { return coll.dest_from(k); }, nbytes);
  if (spoils_sources(coll)) mine.not_for_all();
  mine.finish(where);
  return where;
}

}  // namespace railshmem
