// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/collectives.h"

#include <algorithm>

#include "src/base/log.h"
#include "src/collective/flags.h"
#include "src/collective/operand.h"
#include "src/collective/spaced_copy.h"
#include "src/rma/put_get.h"

namespace railshmem {
namespace {

/// One call, in bytes.
struct Spaced {
  Team& team;
  const char* function;
  std::byte* dest;
  const std::byte* source;
  size_t to_step;
  size_t from_step;
  size_t element;
  size_t nelems;

  size_t place(int rank) const noexcept { return static_cast<size_t>(rank) * nelems * to_step; }
  size_t block(int rank) const noexcept { return static_cast<size_t>(rank) * nelems * from_step; }
  /// Puts the block at `from` to its place in some member's dest.
  void copy(CopyBatch& copies, std::byte* to_dest, int from_rank, const std::byte* from) const noexcept {
    spaced_copy(copies, to_dest + place(from_rank), to_step, from, from_step, element, nelems);
  }
  void keep_own(CopyBatch& copies) const noexcept {
    if (dest != source || to_step != from_step) copy(copies, dest, team.rank, source + block(team.rank));
  }
  void keep_own() const noexcept {
    CopyBatch copies(team.state.device);
    keep_own(copies);
  }
};

void by_push(const Spaced& call, const Operand& dest) noexcept {
  exchange_by_push(
      call.team, call.function,
      [&](CopyBatch& copies, int to) noexcept {
        call.copy(copies, dest.of(call.team, to), call.team.rank, call.source + call.block(to));
      },
      [&](CopyBatch& copies) noexcept { call.keep_own(copies); });
}

void by_pull(const Spaced& call, const Operand& source) noexcept {
  exchange_by_pull(
      call.team, call.function,
      [&](CopyBatch& copies, int from) noexcept {
        call.copy(copies, call.dest, from, source.of(call.team, from) + call.block(call.team.rank));
      },
      [&](CopyBatch& copies) noexcept { call.keep_own(copies); });
}

/// Elements that lie side by side in dest go as blocks that the network copies at once, others one by one.
void put_remote(const Spaced& call, int to) noexcept {
  Team& team = call.team;
  const int pe = team.pes.pe(to);
  std::byte packed[kCopiedBytes];
  const size_t at_once = call.to_step == call.element ? std::max(size_t{1}, kCopiedBytes / call.element) : 1;
  const std::byte* from = call.source + call.block(to);
  std::byte* place = call.dest + call.place(team.rank);
  for (size_t left = call.nelems; left > 0;) {
    const size_t n = std::min(left, at_once);
    const std::byte* data = from;
    if (n > 1) {
      CopyBatch copies(team.state.device);
      spaced_copy(copies, packed, call.element, from, call.from_step, call.element, n);
      data = packed;
    }
    put(team.state, team.context, call.function, place, data, n * call.element, pe);
    from += n * call.from_step;
    place += n * call.to_step;
    left -= n;
  }
}

void by_sending(const Spaced& call) noexcept {
  Team& team = call.team;
  const uint64_t number = begin_exchange(team);
  for (int i = 1; i < team.size(); ++i) put_remote(call, ahead(team, team.rank, i));
  call.keep_own();
  settle(team);  // the flags stay behind all elements
  for (int i = 1; i < team.size(); ++i)
    raise(team, ahead(team, team.rank, i), team.area.exchange(number, team.rank), number);
  await_exchange(team, call.function, number);
}

/// Elements of a packed message: so many that each sender has a part of the incoming area, and that the network copies.
size_t packed_elements(const Spaced& call) noexcept {
  const size_t room = TeamAreaLayout::kIncomingBytes / static_cast<size_t>(call.team.size());
  return std::min(room, kCopiedBytes) / call.element;
}

/// A full exchange for each round; the incoming area takes turns like the lines.
void by_packing(const Spaced& call) noexcept {
  Team& team = call.team;
  const size_t at_once = packed_elements(call);
  const size_t window = at_once * call.element;
  std::byte packed[kCopiedBytes];
  CopyBatch copies(team.state.device);
  call.keep_own(copies);
  for (size_t done = 0; done < call.nelems; done += at_once) {
    const size_t n = std::min(at_once, call.nelems - done);
    const uint64_t number = begin_exchange(team);
    const auto part_of = [&](int sender) {
      return team.mine(team.area.incoming(number, static_cast<size_t>(sender), window));
    };
    for (int i = 1; i < team.size(); ++i) {
      const int to = ahead(team, team.rank, i);
      spaced_copy(copies, packed, call.element, call.source + call.block(to) + done * call.from_step, call.from_step,
                  call.element, n);
      copies.finish();
      push_copied(team, call.function, to, part_of(team.rank), packed, n * call.element,
                  team.area.exchange(number, team.rank), number);
    }
    for (int i = 1; i < team.size(); ++i) {
      const int from = behind(team, team.rank, i);
      await(team, call.function, from, team.area.exchange(number, from), number);
      spaced_copy(copies, call.dest + call.place(from) + done * call.to_step, call.to_step, part_of(from), call.element,
                  call.element, n);
    }
    copies.finish();  // the round after the next one writes over these parts
  }
}

size_t checked_span(const Spaced& call, size_t step) noexcept {
  const int me = call.team.state.me;
  const size_t elements = total_bytes(call.function, call.nelems, static_cast<size_t>(call.team.size()), me);
  return total_bytes(call.function, elements, step, me) - step + call.element;
}

}  // namespace

void alltoalls(Team& team, const char* function, const SpacedBlocks& b) noexcept {
  if (b.dest_step < 1 || b.source_step < 1)
    die("%s: the strides are %td in dest and %td in source; both must be at least 1", function, b.dest_step,
        b.source_step);
  const int me = team.state.me;
  const Spaced call{team,
                    function,
                    b.dest,
                    b.source,
                    total_bytes(function, static_cast<size_t>(b.dest_step), b.element, me),
                    total_bytes(function, static_cast<size_t>(b.source_step), b.element, me),
                    b.element,
                    b.nelems};
  const Operand dest = find_dest(team, function, b.dest, checked_span(call, call.to_step));
  if (team.size() == 1) return call.keep_own();
  const Reach reach = reach_of(team, dest);
  switch (team.state.choice->pick(Collective::alltoalls, reach, b.nelems * b.element, team.size())) {
    case Algorithm::packed:
      if (packed_elements(call) > 0) return by_packing(call);
      return by_sending(call);  // a team of more than a thousand
    case Algorithm::direct:
      return by_sending(call);
    case Algorithm::pull: {
      const Operand source(team.state, b.source, checked_span(call, call.from_step));
      if (source.mapped(team.state)) return by_pull(call, source);
      return by_push(call, dest);
    }
    default:
      return by_push(call, dest);
  }
}

}  // namespace railshmem
