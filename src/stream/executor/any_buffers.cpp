// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/any_buffers.h"

#include <algorithm>
#include <optional>

#include "src/base/align.h"
#include "src/base/log.h"
#include "src/collective/agree.h"
#include "src/collective/collectives.h"
#include "src/collective/flags.h"
#include "src/collective/team_scratch_slot.h"
#include "src/rma/copy_batch.h"
#include "src/stream/executor/host_collective.h"
#include "src/stream/executor/symmetry_vote.h"

namespace railshmem {
namespace {

/// The start of blocks that lie one behind the other, by `of(k)`; nothing where they do not.
template <class Of>
std::optional<std::byte*> base_of(const Coll& coll, Of&& of) noexcept {
  auto* const first = const_cast<std::byte*>(of(0));
  for (int k = 1; k < coll.team.size(); ++k)
    if (of(k) != first + static_cast<size_t>(k) * coll.nbytes) return std::nullopt;
  return first;
}

/// `coll` without lists, or nothing where a list is no array.
std::optional<Coll> without_lists(const Coll& coll) noexcept {
  if (coll.kind == CollKind::alltoallv) return std::nullopt;
  Coll plain = coll;
  if (coll.sources) {
    const auto base = base_of(coll, [&](int k) { return coll.source_for(k); });
    if (!base) return std::nullopt;
    plain.source = *base;
    plain.sources = nullptr;
  }
  if (coll.dests) {
    const auto base = base_of(coll, [&](int k) { return coll.dest_from(k); });
    if (!base) return std::nullopt;
    plain.dest = *base;
    plain.dests = nullptr;
  }
  return plain;
}

/// Whether rails send from there although a call of the program waits in the driver: such a call may hold the lock that
/// copies of other GPU memory ask for (docs/decisions/0025).
bool is_in_heap(const Coll& coll, const void* source, size_t nbytes) noexcept {
  uintptr_t offset = 0;
  const PeState& state = coll.team.state;
  return nbytes == 0 ||
         find_segment(state, source, nbytes, &offset) == &state.segment[static_cast<int>(SegmentId::device)];
}

bool are_symmetric(const Coll& coll, const std::optional<Coll>& plain) noexcept {
  SymmetryVote vote(coll.team.state);
  const size_t all = coll.nbytes * static_cast<size_t>(coll.team.size());
  if (!plain ||
      (coll.kind == CollKind::alltoall && (plain->dest == plain->source || !is_in_heap(coll, plain->source, all)))) {
    vote.refuse();
  } else if (coll.kind == CollKind::reducescatter) {
    vote.ask(plain->source, all);
  } else if (coll.kind == CollKind::allreduce) {
    vote.ask(plain->dest, coll.nbytes);
    vote.ask(plain->source, coll.nbytes);
  } else {
    vote.ask(plain->dest, coll.kind == CollKind::broadcast ? coll.nbytes : all);
  }
  return vote.take(coll.team, coll.function);
}

/// A collective slice by slice, with the team's scratch slot for what other members touch.
class Slices {
 public:
  Slices(const Coll& coll, std::span<std::byte> room) noexcept
      : coll_(coll),
        team_(coll.team),
        room_(room),
        blocks_(exchanges()                       ? 2 * members()
                : coll.deals() || coll.collects() ? members()
                                                  : 1) {}

  void run() noexcept {
    if (exchanges()) return exchange();
    for (size_t at = 0; at < coll_.nbytes; at += slice()) one(at, std::min(slice(), coll_.nbytes - at));
  }

 private:
  bool exchanges() const noexcept { return coll_.kind == CollKind::alltoall || coll_.kind == CollKind::alltoallv; }
  size_t members() const noexcept { return static_cast<size_t>(team_.size()); }
  /// Bytes of a block in the room; a multiple of every element.
  size_t slice() const noexcept { return align_down(room_.size() / blocks_, size_t{64}); }

  void one(size_t at, size_t nbytes) noexcept {
    const bool deals = coll_.deals(), collects = coll_.collects();
    Coll part = coll_;
    part.sources = nullptr;
    part.dests = nullptr;
    part.nbytes = nbytes;
    part.source = room_.data();
    part.dest = room_.data();
    if (coll_.reduces()) bring(deals ? members() : 1, at, nbytes);
    if (coll_.kind == CollKind::broadcast && team_.rank == coll_.root) part.source = coll_.source_for(team_.rank) + at;
    if (collects) {
      std::byte* const own = room_.data() + static_cast<size_t>(team_.rank) * nbytes;
      copy_own(team_.state.device, own, coll_.source_for(team_.rank) + at, nbytes);
      part.source = own;
    }
    if (coll_.kind == CollKind::reducescatter) part.dest = coll_.dest_from(0) + at;
    run_host_collective(part);
    if (coll_.kind == CollKind::reducescatter) return;
    CopyBatch copies(team_.state.device);
    for (size_t k = 0; k < (collects ? members() : 1); ++k)
      copies.add(coll_.dest_from(static_cast<int>(k)) + at, room_.data() + k * nbytes, nbytes);
  }

  /// Blocks of the source into the room.
  void bring(size_t blocks, size_t at, size_t nbytes) noexcept {
    CopyBatch copies(team_.state.device);
    for (size_t k = 0; k < blocks; ++k)
      copies.add(room_.data() + k * nbytes, coll_.source_for(static_cast<int>(k)) + at, nbytes);
  }

  /// Blocks may have different sizes; each member has a place for a slice from every other.
  void exchange() noexcept {
    Ballot longest;
    for (int k = 0; k < team_.size(); ++k) longest.highest = std::max<uint64_t>(longest.highest, coll_.sends(k));
    const size_t nbytes = agree(team_, coll_.function, longest).highest;
    for (size_t at = 0; at < nbytes; at += slice()) exchange(at);
  }
  void exchange(size_t at) noexcept {
    const auto length = [&](size_t whole) { return std::min(slice(), whole - std::min(at, whole)); };
    sync(team_, coll_.function);  // everybody's room is free
    const uint64_t number = begin_exchange(team_);
    std::byte* const place = room_.data() + static_cast<size_t>(team_.rank) * slice();
    const auto sent = [this](int to) { return room_.data() + (members() + static_cast<size_t>(to)) * slice(); };
    {
      CopyBatch copies(team_.state.device);
      for (int to = 0; to < team_.size(); ++to)
        if (const size_t n = length(coll_.sends(to)); to != team_.rank && n > 0)
          copies.add(sent(to), coll_.source_for(to) + at, n);
    }
    for (int i = 1; i < team_.size(); ++i) {
      const int to = ahead(team_, team_.rank, i);
      push(team_, coll_.function, to, place, sent(to), length(coll_.sends(to)), team_.area.exchange(number, team_.rank),
           number);
    }
    await_exchange(team_, coll_.function, number);
    settle(team_);  // dest may be source
    CopyBatch copies(team_.state.device);
    copies.add_own(coll_.dest_from(team_.rank) + at, coll_.source_for(team_.rank) + at,
                   length(coll_.sends(team_.rank)));
    for (int from = 0; from < team_.size(); ++from)
      if (const size_t n = length(coll_.receives(from)); from != team_.rank && n > 0)
        copies.add(coll_.dest_from(from) + at, room_.data() + static_cast<size_t>(from) * slice(), n);
  }

  const Coll& coll_;
  Team& team_;
  const std::span<std::byte> room_;
  const size_t blocks_;  ///< in the room at once
};

}  // namespace

void run_with_any_buffers(const Coll& coll) noexcept {
  const std::optional<Coll> plain = without_lists(coll);
  if (are_symmetric(coll, plain)) {
    Coll direct = *plain;
    if (coll.kind == CollKind::allgather && !is_in_heap(coll, direct.source, coll.nbytes)) {
      std::byte* const own = static_cast<std::byte*>(direct.dest) + static_cast<size_t>(coll.team.rank) * coll.nbytes;
      copy_own(coll.team.state.device, own, direct.source, coll.nbytes);
      direct.source = own;
    }
    return run_host_collective(direct);
  }
  const std::span<std::byte> slot = scratch_slot_of(coll.team, coll.function, Memory::device);
  const std::span<std::byte> room = slot.subspan(slot.size() / 2);
  if (room.size() / 64 < static_cast<size_t>(coll.team.size()))
    die("%s: the buffers do not lie at one symmetric address, and the library has no room through which they could go: "
        "more teams than it has scratch slots for use such buffers; allocate them with shmem_malloc",
        coll.function);
  Slices(coll, room).run();
}

}  // namespace railshmem
