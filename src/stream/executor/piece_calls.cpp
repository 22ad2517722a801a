// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/piece_calls.h"

#include <algorithm>
#include <vector>

#include "src/base/log.h"
#include "src/collective/background.h"
#include "src/collective/blocks.h"
#include "src/collective/chunk_loop.h"
#include "src/collective/collectives.h"
#include "src/collective/producers.h"
#include "src/collective/reduce_chunks.h"
#include "src/stream/executor/host_collective.h"
#include "src/stream/executor/symmetry_vote.h"

namespace railshmem {
namespace {

class PieceCall {
 public:
  PieceCall(const Coll& coll, const PieceCounters& pieces) noexcept
      : coll_(coll),
        team_(coll.team),
        device_(*coll.team.state.device),
        pieces_(pieces),
        count_((coll.nbytes + pieces.piece_nbytes - 1) / pieces.piece_nbytes),
        all_(coll.nbytes * static_cast<size_t>(coll.team.size())),
        number_(queue_of(coll.team, coll.function)->word()) {}

  void run() noexcept {
    must_be_symmetric();
    device_.copy(&number_, pieces_.raised, sizeof number_);
    ++number_;
    if (coll_.kind == CollKind::allgather) return gather();
    deal();
  }

 private:
  size_t counters_nbytes() const noexcept { return count_ * static_cast<size_t>(team_.size()) * sizeof(uint64_t); }

  void must_be_symmetric() noexcept {
    SymmetryVote vote(team_.state);
    const bool gathers = coll_.kind == CollKind::allgather;
    vote.ask(gathers ? coll_.dest : coll_.source, all_);
    vote.ask(gathers ? pieces_.raised : pieces_.ready, counters_nbytes());
    if (vote.take(team_, coll_.function)) return;
    die("%s: %s do not lie at one symmetric address of the GPUs' heap on all members, which pieces between nodes need; "
        "allocate both with shmem_malloc",
        coll_.function, gathers ? "dest and arrived" : "source and ready");
  }

  void gather() noexcept {
    const Blocks blocks{team_,
                        coll_.function,
                        static_cast<std::byte*>(coll_.dest),
                        static_cast<const std::byte*>(coll_.source),
                        coll_.nbytes,
                        0,
                        coll_.nbytes};
    if (Operand(team_.state, coll_.dest, all_).mapped(team_.state))
      return pieces_by_chunks(blocks, {pieces_.piece_nbytes, pieces_.raised, &number_});
    fcollect_when_come(team_, coll_.function, coll_.dest, coll_.source, coll_.nbytes);
    raise_all(count_ * static_cast<size_t>(team_.size()));
  }

  void deal() noexcept {
    const Reduction job = reduction_of(coll_);
    Producers producers(team_, pieces_.ready, number_, count_, pieces_.piece_nbytes);
    const PieceProducers at_once{producers, pieces_.piece_nbytes, pieces_.raised, &number_};
    if (deal_by_chunks(team_, job, &at_once)) return;
    run_chunks(
        team_, coll_.function, [&] { return producers.all_ready() ? ChunkTurn::over : ChunkTurn::idle; },
        [&] { return producers.late(); });
    reducescatter(team_, job);
    raise_all(count_);
  }

  /// The first n counters that this PE raises.
  void raise_all(size_t n) noexcept {
    constexpr size_t kAtOnce = 4096;
    const std::vector<uint64_t> numbers(std::min(n, kAtOnce), number_);
    for (size_t at = 0; at < n; at += kAtOnce)
      device_.copy(pieces_.raised + at, numbers.data(), std::min(n - at, kAtOnce) * sizeof(uint64_t));
  }

  const Coll& coll_;
  Team& team_;
  DeviceAccess& device_;
  const PieceCounters& pieces_;
  const size_t count_;  ///< pieces of a block
  const size_t all_;    ///< bytes of all blocks
  uint64_t& number_;    ///< of this call, in pinned memory
};

}  // namespace

void run_piece_call(const Coll& coll, const PieceCounters& pieces) noexcept {
  PieceCall(coll, pieces).run();
}

}  // namespace railshmem
