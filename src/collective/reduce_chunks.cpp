// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/reduce_chunks.h"

#include <algorithm>

#include "src/base/cpu.h"
#include "src/collective/chunk_loop.h"
#include "src/collective/operand_links.h"
#include "src/collective/spread.h"

namespace railshmem {
namespace {

constexpr size_t kLine = 64;  // chunks begin where many elements can be loaded at once, whatever their type

/// Tells consumers which pieces of a result are there.
class DoneCounters {
 public:
  /// `pieces` may be null: then nobody is told.
  DoneCounters(Background& background, const PieceProducers* pieces, size_t nbytes) noexcept
      : background_(background), pieces_(pieces), cut_(pieces ? Chunks{nbytes, pieces->piece_nbytes} : Chunks{0, 1}) {}

  /// The first `nbytes` of the result are final.
  void advance(size_t nbytes) noexcept {
    for (; told_ < cut_.count() && cut_.start(told_) + cut_.length(told_) <= nbytes; ++told_)
      last_ = background_.copy(pieces_->done + told_, pieces_->number, sizeof(uint64_t), 0);
  }
  bool over() noexcept { return told_ == cut_.count() && background_.finished(last_); }

 private:
  Background& background_;
  const PieceProducers* const pieces_;
  const Chunks cut_;
  size_t told_ = 0;
  Background::Ticket last_ = DeviceQueue::kDone;
};

/// The places of one call's chunks.
struct Room {
  std::byte* slot;  ///< symmetric
  size_t chunk;     ///< bytes
};

size_t other_nodes(const Team& team) noexcept {
  return team.nodes.leaders.size() - 1;
}

/// The scratch slot of an owner: windows for the operands of the other nodes, then one for its own node's operands,
/// then those of what it helps with. A scratch slot in host memory has only the first: the rest is in memory of the
/// process.
Slots window(std::byte* slot, size_t index, size_t chunk) noexcept {
  return {slot + index * kOperandWindow * chunk, chunk};
}
/// Which window of an owner on node `owner` is for node `node`.
size_t window_of(int owner, int node) noexcept {
  return static_cast<size_t>(node < owner ? node : node - 1);
}

class ReduceChunks {
 public:
  /// `aside`: see OwnShare.
  ReduceChunks(Team& team, const Reduction& job, const Shares& shares, Results results, Memory memory, const Room& room,
               std::byte* sums, std::byte* aside, const PieceProducers* producers) noexcept
      : team_(team),
        job_(job),
        room_(room),
        come_(team),
        background_(team, job.function),
        producers_(producers ? &producers->producers : nullptr),
        done_(background_, aside ? nullptr : producers, job.nbytes()),
        sums_(team, job, source_nbytes(team, job, results), memory, background_),
        own_(own_share(shares, sums, aside)),
        spread_(team, job.function, background_, come_, job.dest, job.nbytes(), job.dest + mine(shares).dest_at,
                job.dest + mine(shares).dest_at, cut_of(results == Results::all ? mine(shares) : Share{})),
        pass_on_(team, background_, come_, job.dest, job.nbytes()) {
    help(shares, sums + kOperandWindow * room.chunk, results);
  }

  static size_t source_nbytes(const Team& team, const Reduction& job, Results results) noexcept {
    return job.nbytes() * (results == Results::dealt ? static_cast<size_t>(team.size()) : 1);
  }

  void run() noexcept {
    run_chunks(
        team_, job_.function, [this] { return turn(); }, [this] { return whom(); });
    settle(team_);
    NodeMeeting(team_).await_all(job_.function);  // nobody reads this PE's source any more, or writes to its dest
  }

 private:
  Share mine(const Shares& shares) const noexcept { return shares.of(team_.rank); }
  Chunks cut_of(const Share& share) const noexcept { return {share.nelems * job_.element, room_.chunk}; }

  OwnShare own_share(const Shares& shares, std::byte* sums, std::byte* aside) {
    const int nodes = static_cast<int>(team_.nodes.leaders.size()), my_node = team_.nodes.my_node;
    std::vector<int> senders;
    std::vector<Slots> landings;
    for (int node = 0; node < nodes; ++node) {
      senders.push_back(node == my_node ? team_.rank : shares.helper(node, team_.rank));
      landings.push_back(node == my_node ? window(sums, 0, room_.chunk)
                                         : window(room_.slot, window_of(my_node, node), room_.chunk));
    }
    return {team_, mine(shares), cut_of(mine(shares)), senders, std::move(landings), job_.dest, aside, producers_};
  }

  /// The shares of other nodes' members with which this PE helps, those of the farthest node first.
  void help(const Shares& shares, std::byte* sums, Results results) {
    const TeamNodes& nodes = team_.nodes;
    const int count = static_cast<int>(nodes.leaders.size());
    for (int distance = count - 1; distance > 0; --distance) {
      const int node = (nodes.my_node + distance) % count;
      for (int i = 0; i < nodes.size_of(node); ++i) {
        const int owner = nodes.by_node[static_cast<size_t>(nodes.first[static_cast<size_t>(node)] + i)];
        const Share share = shares.of(owner);
        if (share.nelems == 0 || shares.helper(nodes.my_node, owner) != team_.rank) continue;
        sends_.emplace_back(team_, job_.function, owner, share, cut_of(share), window(sums, sends_.size(), room_.chunk),
                            window(room_.slot, window_of(node, nodes.my_node), room_.chunk), producers_);
        if (results == Results::all) pass_on_.expect(owner, job_.dest + share.dest_at, cut_of(share));
      }
    }
  }

  ChunkTurn turn() noexcept {
    const bool come = come_.all_have_come();
    bool moved = false, over = own_.over() && spread_.over() && pass_on_.over();
    for (OperandSend& send : sends_) {
      over &= send.over();
      moved |= send.turn(sums_, background_, job_.element, come);
    }
    moved |= own_.turn(sums_, background_, job_.element, come);
    moved |= spread_.turn(own_.ready());
    moved |= pass_on_.turn();
    done_.advance(std::min(own_.ready() * room_.chunk, job_.nbytes()));
    over &= done_.over();
    return over ? ChunkTurn::over : moved ? ChunkTurn::moved : ChunkTurn::idle;
  }

  int whom() noexcept {
    if (!come_.all_have_come()) return come_.missing();
    if (producers_ && producers_->late() >= 0) return producers_->late();
    for (const int rank : {own_.missing(), pass_on_.missing(), spread_.missing()})
      if (rank >= 0) return rank;
    for (const OperandSend& send : sends_)
      if (!send.over()) return send.owner();
    return team_.rank;  // its own copies and sums
  }

  Team& team_;
  const Reduction& job_;
  const Room room_;
  NodeMeeting come_;
  Background background_;
  Producers* const producers_;
  DoneCounters done_;
  NodeSums sums_;
  OwnShare own_;
  std::vector<OperandSend> sends_;
  Spread spread_;
  PassOn pass_on_;
};

/// Whether members of a node reach this array of each other, where the collective computes.
bool is_within_reach(const Team& team, const void* array, size_t nbytes, Memory memory) noexcept {
  const Operand operand(team.state, array, nbytes);
  return operand.mapped(team.state) && operand.on_device(team.state) == (memory == Memory::device);
}

/// Whether results may be stored there, on this PE.
bool stores_to(const Team& team, const void* dest, Memory memory) noexcept {
  const bool is_device = team.state.device && team.state.device->is_device(dest);
  return is_device == (memory == Memory::device);
}

bool computes(const Team& team, const Reduction& job, Memory memory) noexcept {
  if (memory == Memory::host) return is_plain(job);
  if (job.kind == TypeKind::long_double || (job.kind >= TypeKind::f16 && job.rounding == Rounding::each)) return false;
  const int nodes = static_cast<int>(team.nodes.leaders.size());
  for (int node = 0; node < nodes && job.scaling == Scaling::factor; ++node)
    if (team.nodes.size_of(node) > DeviceReduction::kMost) return false;  // one kernel multiplies each operand once
  return team.state.device->has_reducer();
}

/// The way of one call; null where the vector cannot go in chunks.
struct Way {
  Room room;
  std::byte* sums;  ///< windows for the own node's operands, and for what this PE helps with
};

Way find_way(Team& team, const Reduction& job, const Shares& shares, Memory memory, size_t most_in_chunk) noexcept {
  const std::span<std::byte> slot = scratch_slot_of(team, job.function, memory);
  const size_t sums = 1 + shares.most_helped(), windows = other_nodes(team) + (memory == Memory::device ? sums : 0);
  const size_t wanted = align_up(std::min(cut(team, shares.longest() * job.element).chunk, most_in_chunk), kLine);
  const size_t chunk = std::min(wanted, align_down(slot.size() / 2 / (windows * kOperandWindow), kLine));
  if (chunk == 0) return {};
  if (memory == Memory::host) return {{slot.data(), chunk}, team.sums_of(sums * kOperandWindow * chunk)};
  return {{slot.data(), chunk}, window(slot.data(), other_nodes(team), chunk).first};
}

/// All pieces of dest are there.
void notify_all(Team& team, const Reduction& job, const PieceProducers& pieces) noexcept {
  Background background(team, job.function);
  DoneCounters done(background, &pieces, job.nbytes());
  done.advance(job.nbytes());
  while (!done.over()) cpu_pause();
}

/// Whether results may be stored to this PE's dest although other members still read its source.
bool is_apart(const Team& team, const Reduction& job, size_t source_nbytes) noexcept {
  const std::byte* const own = job.source + static_cast<size_t>(team.rank) * job.nbytes();
  return job.dest == own || job.dest >= job.source + source_nbytes || job.dest + job.nbytes() <= job.source;
}

}  // namespace

bool reduce_by_chunks(Team& team, const Reduction& job) noexcept {
  const Memory memory = on_device(team, job) ? Memory::device : Memory::host;
  if (team.nodes.one_node() || !computes(team, job, memory) || !is_within_reach(team, job.dest, job.nbytes(), memory) ||
      !is_within_reach(team, job.source, job.nbytes(), memory))
    return false;
  const Shares shares(team, job, Results::all);
  const Way way = find_way(team, job, shares, memory, SIZE_MAX);
  if (!way.sums) return false;
  ReduceChunks(team, job, shares, Results::all, memory, way.room, way.sums, nullptr, nullptr).run();
  return true;
}

bool deal_by_chunks(Team& team, const Reduction& job, const PieceProducers* producers) noexcept {
  const size_t source_nbytes = ReduceChunks::source_nbytes(team, job, Results::dealt);
  const Memory memory =
      Operand(team.state, job.source, source_nbytes).on_device(team.state) ? Memory::device : Memory::host;
  if (team.nodes.one_node() || !computes(team, job, memory) ||
      !is_within_reach(team, job.source, source_nbytes, memory))
    return false;
  const Shares shares(team, job, Results::dealt);
  const Way way = find_way(team, job, shares, memory, producers ? producers->piece_nbytes : SIZE_MAX);
  if (!way.sums) return false;
  // Every member decides for itself where its results go meanwhile.
  const bool direct = is_apart(team, job, source_nbytes) && stores_to(team, job.dest, memory);
  const std::unique_ptr<std::byte[]> aside = direct ? nullptr : room_for(job.function, job.nbytes());
  ReduceChunks(team, job, shares, Results::dealt, memory, way.room, way.sums, aside.get(), producers).run();
  if (!aside) return true;
  move_block(team.state.device, job.dest, aside.get(), job.nbytes());
  if (producers) notify_all(team, job, *producers);
  return true;
}

}  // namespace railshmem
