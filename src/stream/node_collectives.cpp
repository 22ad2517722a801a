// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/node_collectives.h"

#include "src/base/log.h"
#include "src/cuda/context_guard.h"

namespace railshmem {
namespace {

using cuda::CombineCall;
using cuda::DirectCombineCall;
using cuda::DirectMoveCall;
using cuda::MoveCall;
using cuda::MoveSizesCall;
using cuda::Whereabouts;

}  // namespace

NodeCollectives::NodeCollectives(DeviceMemory& memory, PeerBuffers& buffers, const WorldView& view,
                                 const Choice& choice, size_t slots)
    : memory_(memory), buffers_(buffers), kernels_(memory.gpu(), memory.copies(), view), choice_(choice), scratch_(slots) {}

void NodeCollectives::must(cuda::Result result, const char* call) const noexcept {
  if (result != cuda::kSuccess) memory_.gpu().die_of(result, call);
}

bool NodeCollectives::serves(const Team& team) const noexcept {
  return team.nodes.one_node() && team.size() <= cuda::kMostMembers && (team.size() == 1 || memory_.reaches_node());
}

const cuda::CollMembers& NodeCollectives::members_of(const Coll& coll) {
  std::unique_ptr<TeamScratch>& scratch = scratch_[static_cast<size_t>(coll.team.slot)];
  if (!scratch)
    scratch = std::make_unique<TeamScratch>(memory_.gpu(), memory_.copies(), memory_.offers(), coll.team, coll.function);
  return scratch->members();
}

void NodeCollectives::forget(const Team& team) noexcept {
  scratch_[static_cast<size_t>(team.slot)].reset();
}

void NodeCollectives::give(const Coll& coll, cuda::Stream stream) {
  const cuda::CollMembers& members = members_of(coll);
  const Question question = question_of(coll);
  const Plan plan = make_plan(question, choice_);
  if (log_enabled(LogLevel::debug)) log_debug("%s: %s", coll.function, explain(question, plan).c_str());
  const cuda::ContextGuard guard(memory_.gpu());
  for (const Step& step : plan) run(coll, plan, step, members, stream);
}

void NodeCollectives::run(const Coll& coll, const Plan& plan, const Step& step, const cuda::CollMembers& members,
                          cuda::Stream stream) {
  const cuda::CollKernels::Grid grid{step.blocks, step.threads};
  const auto launch = [&](const auto& call) { must(kernels_.give(call, grid, stream), "cuLaunchKernel"); };
  const bool direct = step.kind == StepKind::direct;
  if (coll.reduces()) {
    const CombineCall call = combine_of(coll, plan, members);
    if (direct) return launch(DirectCombineCall{call, where_of(coll, call.two_steps != 0)});
    return launch(call);
  }
  const MoveCall call = move_of(coll, members);
  if (direct) return launch(DirectMoveCall{call, where_of(coll, false)});
  if (coll.kind != CollKind::broadcast && coll.kind != CollKind::alltoallv) return launch(call);
  MoveSizesCall sizes{call, {}, {}};
  if (coll.kind == CollKind::alltoallv) sizes.move.nbytes = ~uint64_t{0};
  for (int k = 0; k < members.n; ++k) {
    sizes.send_nbytes[k] = coll.sends(k);
    sizes.receive_nbytes[k] = coll.receives(k);
  }
  launch(sizes);
}

MoveCall NodeCollectives::move_of(const Coll& coll, const cuda::CollMembers& members) const noexcept {
  MoveCall call{members, coll.nbytes, {}, {}};
  for (int k = 0; k < members.n; ++k) {
    call.source[k] = coll.source_for(k);
    call.dest[k] = coll.dest_from(k);
  }
  return call;
}

CombineCall NodeCollectives::combine_of(const Coll& coll, const Plan& plan,
                                        const cuda::CollMembers& members) const noexcept {
  CombineCall call{};
  call.members = members;
  call.op = coll.op;
  call.kind = coll.type;
  call.scaling = coll.scaling;
  call.factor = coll.factor;
  call.nbytes = call.whole = coll.nbytes;
  call.dest = coll.dest;
  const bool parts = coll.kind == CollKind::allreduce &&
                     (plan.algorithm == Algorithm::parts || plan.algorithm == Algorithm::direct);
  call.two_steps = parts ? 1 : 0;
  if (parts) call.nbytes = part_nbytes(coll.nbytes, members.n);
  for (int k = 0; k < members.n; ++k) {
    const std::byte* const source = coll.source_for(k);
    // A part that the vector does not reach has no bytes; nobody looks there.
    call.source[k] = parts ? source + static_cast<size_t>(k) * call.nbytes : source;
  }
  return call;
}

/// What the others are told.
Whereabouts NodeCollectives::where_of(const Coll& coll, bool two_steps) {
  Whereabouts where{};
  const Team& team = coll.team;
  std::vector<int> pes;
  for (int k = 0; k < team.size(); ++k) pes.push_back(team.pes.pe(k));
  bool all = true;
  // One buffer for all members, or one each.
  const auto tell = [&](uint64_t(&words)[cuda::kMostMembers], const auto& address, const auto& nbytes) {
    PeerView view;
    for (int k = 0; k < team.size(); ++k) {
      const bool known = k > 0 && address(k) == address(k - 1) && nbytes(k) == nbytes(k - 1);
      if (!known && nbytes(k) > 0) view = buffers_.find(pes, address(k), nbytes(k));
      if (nbytes(k) == 0 || view.where == PeerView::Where::nowhere) {
        all &= k == team.rank || nbytes(k) == 0;
        continue;
      }
      words[k] = view.at_peer[k];
    }
  };
  const bool reads = coll.reduces(), writes = !coll.reduces() || two_steps;
  if (reads)
    tell(where.source, [&](int k) { return coll.source_for(k); }, [&](int) { return coll.nbytes; });
  if (writes)
    tell(where.dest, [&](int k) { return coll.dest_from(k); }, [&](int) { return coll.nbytes; });
  // A result in a part of the source that another member reads would overwrite what it still reads.
  for (int k = 0; k < team.size() && coll.kind == CollKind::reducescatter; ++k) {
    const auto distance = static_cast<const std::byte*>(coll.dest) - coll.source_for(k);
    const auto nbytes = static_cast<ptrdiff_t>(coll.nbytes);
    all &= k == team.rank || distance >= nbytes || -distance >= nbytes;
  }
  for (int k = 0; k < team.size() && all; ++k) where.source[k] |= Whereabouts::kForAll;
  return where;
}

}  // namespace railshmem
