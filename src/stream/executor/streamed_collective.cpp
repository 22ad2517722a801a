// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/streamed_collective.h"

#include "src/stream/executor/any_buffers.h"
#include "src/stream/executor/host_collective.h"

namespace railshmem {
namespace {

template <class T>
std::vector<T> list_of(const T* first, const Coll& coll) {
  return first ? std::vector<T>(first, first + coll.team.size()) : std::vector<T>();
}
template <class List>
auto or_null(List& list) noexcept {
  return list.empty() ? nullptr : list.data();
}

}  // namespace

StreamedCollective::StreamedCollective(const Coll& coll, Buffers buffers)
    : coll_(coll),
      buffers_(buffers),
      pieces_(),
      sources_(list_of(coll.sources, coll)),
      dests_(list_of(coll.dests, coll)),
      source_counts_(list_of(coll.source_counts, coll)),
      source_offsets_(list_of(coll.source_offsets, coll)),
      dest_counts_(list_of(coll.dest_counts, coll)),
      dest_offsets_(list_of(coll.dest_offsets, coll)) {}

StreamedCollective::StreamedCollective(const Coll& coll, const PieceCounters& pieces)
    : coll_(coll), buffers_(Buffers::symmetric), pieces_(pieces) {}

Coll StreamedCollective::on(Team& team) const noexcept {
  return {coll_.function,
          coll_.kind,
          team,
          coll_.type,
          coll_.op,
          coll_.scaling,
          coll_.factor,
          coll_.root,
          coll_.max_blocks,
          coll_.spares_sms,
          coll_.element,
          coll_.nbytes,
          coll_.source,
          coll_.dest,
          or_null(sources_),
          or_null(dests_),
          or_null(source_counts_),
          or_null(source_offsets_),
          or_null(dest_counts_),
          or_null(dest_offsets_)};
}

void StreamedCollective::run(Team& team) const noexcept {
  const Coll coll = on(team);
  if (pieces_.piece_nbytes > 0) return run_piece_call(coll, pieces_);
  if (buffers_ == Buffers::symmetric) return run_host_collective(coll);
  run_with_any_buffers(coll);
}

}  // namespace railshmem
