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

NodeCollectives::NodeCollectives(DeviceMemory& memory, const WorldView& view, const Choice& choice, size_t slots)
    : memory_(memory), kernels_(memory.gpu(), memory.copies(), view), choice_(choice), scratch_(slots) {}

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
                          cuda::Stream stream) noexcept {
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

/// What the others are told: a buffer of the heap by its offset there.
Whereabouts NodeCollectives::where_of(const Coll& coll, bool two_steps) const noexcept {
  Whereabouts where{};
  const Team& team = coll.team;
  const auto word = [&](const void* address, size_t nbytes) -> uint64_t {
    const auto* const at = static_cast<const std::byte*>(address);
    const auto offset = static_cast<uint64_t>(at - memory_.base());
    if (offset >= memory_.nbytes() || nbytes > memory_.nbytes() - offset) return 0;
    return Whereabouts::kInHeap | offset;
  };
  const bool reads = coll.reduces(), writes = !coll.reduces() || two_steps;
  bool all = true;
  for (int k = 0; k < team.size(); ++k) {
    where.heap[k] = reinterpret_cast<unsigned char*>(
        memory_.arena().address(static_cast<size_t>(team.state.slot(team.pes.pe(k)))));
    if (reads) where.source[k] = word(coll.source_for(k), coll.nbytes);
    if (writes) where.dest[k] = word(coll.dest_from(k), coll.nbytes);
    if (k != team.rank) all &= (!reads || where.source[k] != 0) && (!writes || where.dest[k] != 0);
    // A result in a part of the source that another member reads would overwrite what it still reads.
    if (coll.kind == CollKind::reducescatter && k != team.rank) {
      const auto distance = static_cast<const std::byte*>(coll.dest) - coll.source_for(k);
      const auto nbytes = static_cast<ptrdiff_t>(coll.nbytes);
      all &= distance >= nbytes || -distance >= nbytes;
    }
  }
  for (int k = 0; k < team.size() && all; ++k) where.source[k] |= Whereabouts::kForAll;
  return where;
}

}  // namespace railshmem
