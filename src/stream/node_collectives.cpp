// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/node_collectives.h"

#include <type_traits>

#include "src/base/log.h"
#include "src/cuda/context_guard.h"
#include "src/stream/whereabouts.h"

namespace railshmem {

using cuda::CombineCall;
using cuda::DirectCombineCall;
using cuda::DirectMoveCall;
using cuda::EngineMoveCall;
using cuda::MoveCall;
using cuda::MoveSizesCall;
using cuda::OwnBlockCall;

/// One collective on its way into a stream, and the step that is next.
struct NodeCollectives::Job {
  const Coll& coll;
  const Plan& plan;
  const TeamScratch& scratch;
  cuda::Stream stream;
  Step step;

  int n() const noexcept { return scratch.members().n; }
};

namespace {

cuda::CollKernels::Grid grid_of(const Step& step) noexcept {
  return {step.blocks, step.threads};
}

/// Blocks of an array, none of them in a list.
template <class T>
cuda::EvenBlocks<T> even(T* base, bool has_blocks, size_t nbytes) noexcept {
  return {base, has_blocks ? nbytes : 0};
}

MoveCall move_of(const Coll& coll, const cuda::CollMembers& members) noexcept {
  MoveCall call{members, coll.nbytes, {}, {}};
  for (int k = 0; k < members.n; ++k) {
    call.source.at[k] = coll.source_for(k);
    call.dest.at[k] = coll.dest_from(k);
  }
  return call;
}

/// All but the operands.
template <class Call>
Call combine_of(const Coll& coll, const Plan& plan, const cuda::CollMembers& members) noexcept {
  Call call{};
  call.members = members;
  call.op = coll.op;
  call.kind = coll.type;
  call.scaling = coll.scaling;
  call.factor = coll.factor;
  call.nbytes = call.whole = coll.nbytes;
  call.dest = coll.dest;
  const bool parts = coll.kind == CollKind::allreduce && plan.algorithm != Algorithm::packets;
  call.two_steps = parts ? 1 : 0;
  if (parts) call.nbytes = part_nbytes(coll.nbytes, members.n);
  return call;
}

/// A move whose blocks have sizes of their own.
MoveSizesCall sized_move_of(const Coll& coll, const cuda::CollMembers& members) noexcept {
  MoveSizesCall call{move_of(coll, members), {}, {}};
  if (coll.kind == CollKind::alltoallv) call.move.nbytes = ~uint64_t{0};
  for (int k = 0; k < members.n; ++k) {
    call.send_nbytes[k] = coll.sends(k);
    call.receive_nbytes[k] = coll.receives(k);
  }
  return call;
}

}  // namespace

NodeCollectives::NodeCollectives(DeviceMemory& memory, PeerBuffers& buffers, const WorldView& view,
                                 const Choice& choice, size_t slots)
    : memory_(memory),
      buffers_(buffers),
      kernels_(memory.gpu(), memory.copies(), view),
      sides_(memory.gpu()),
      choice_(choice),
      view_(view),
      scratches_(memory, slots) {}

void NodeCollectives::must(cuda::Result result, const char* call) const noexcept {
  if (result != cuda::kSuccess) memory_.gpu().die_of(result, call);
}

template <class Call>
void NodeCollectives::launch(const Job& job, const Call& call) const noexcept {
  const cuda::CollKernels::Grid grid = grid_of(job.step);
  if constexpr (std::is_same_v<Call, cuda::EvenMoveCall> || std::is_same_v<Call, cuda::EvenCombineCall>) {
    must(kernels_.give(call, job.step.units, grid, job.stream), "cuLaunchKernel");
  } else {
    must(kernels_.give(call, grid, job.stream), "cuLaunchKernel");
  }
}

bool NodeCollectives::serves(const Team& team) const noexcept {
  return team.nodes.one_node() && team.size() <= cuda::kMostMembers && (team.size() == 1 || memory_.reaches_node());
}

void NodeCollectives::report_late_launches(FaultRecord* record) {
  view_.fault = record;
  view_.error = nullptr;
  kernels_.show(memory_.copies(), view_);
}

void NodeCollectives::give(const Coll& coll, cuda::Stream stream) {
  const TeamScratch& scratch = scratches_.for_call(coll, stream);
  const Question question = question_of(coll);
  const Plan plan = make_plan(question, choice_);
  if (log_enabled(LogLevel::debug)) log_debug("%s: %s", coll.function, explain(question, plan).c_str());
  const cuda::ContextGuard guard(memory_.gpu());
  Job job{coll, plan, scratch, stream, *plan.begin()};
  if (plan.algorithm == Algorithm::engines) return move_by_engines(job);
  if (job.step.kind == StepKind::begin) {
    const EngineMoveCall meeting{move_of(coll, scratch.members()), 0, nullptr, -1};
    must(kernels_.begin(meeting, grid_of(job.step), stream), "cuLaunchKernel");
    job.step = plan.steps[1];
  }
  coll.reduces() ? combine(job) : move(job);
}

/// Members may have their sources in different forms, and so run different kernels: those exchange equal packets.
void NodeCollectives::combine(const Job& job) {
  const Coll& coll = job.coll;
  if (job.step.kind == StepKind::exchange && !coll.sources && cuda::CollKernels::has_own_kernel(coll.type, coll.op)) {
    auto call = combine_of<cuda::EvenCombineCall>(coll, job.plan, job.scratch.members());
    call.source = even(coll.source, coll.deals() || call.two_steps != 0, call.nbytes);
    if (call.two_steps == 0 || job.step.units == 1) return launch(job, call);  // those of two steps have one unit
  }
  auto call = combine_of<CombineCall>(coll, job.plan, job.scratch.members());
  for (int k = 0; k < job.n(); ++k) {
    const std::byte* const source = coll.source_for(k);
    // A part that the vector does not reach has no bytes; nobody looks there.
    call.source.at[k] = call.two_steps != 0 ? source + static_cast<size_t>(k) * call.nbytes : source;
  }
  if (job.step.kind == StepKind::staged)
    return must(kernels_.give_staged(call, grid_of(job.step), job.stream), "cuLaunchKernel");
  if (job.step.kind != StepKind::direct) return launch(job, call);
  const Touched touched{true, call.two_steps != 0};
  launch(job, DirectCombineCall{call, direct_whereabouts(job.coll, buffers_, job.scratch.pes(), touched, job.stream)});
}

void NodeCollectives::move(const Job& job) {
  const Coll& coll = job.coll;
  if (job.step.kind == StepKind::exchange && coll.collects() && !coll.sources && !coll.dests)
    return launch(job,
                  cuda::EvenMoveCall{job.scratch.members(), coll.nbytes, even(coll.source, coll.deals(), coll.nbytes),
                                     even(coll.dest, true, coll.nbytes)});
  const bool sized = coll.kind == CollKind::broadcast || coll.kind == CollKind::alltoallv;
  if (sized) return launch(job, sized_move_of(coll, job.scratch.members()));
  const MoveCall call = move_of(coll, job.scratch.members());
  if (job.step.kind == StepKind::staged)
    return must(kernels_.give_staged(call, grid_of(job.step), job.stream), "cuLaunchKernel");
  if (job.step.kind != StepKind::direct) return launch(job, call);
  launch(job, DirectMoveCall{call, direct_whereabouts(coll, buffers_, job.scratch.pes(), {false, true}, job.stream)});
}

/// Every member fetches, from one member at a time: from the next one, then from the one behind it. So one member
/// fetches from each at a time, too, which is much faster than copies from all at once (docs/decisions/0060). It takes
/// the others' blocks to lie in their heaps where its own lie in its heap; the kernel behind the copies knows whether
/// they do.
void NodeCollectives::move_by_engines(const Job& job) {
  const Coll& coll = job.coll;
  const int me = coll.team.rank;
  const BlocksPlace place = place_of_blocks(coll, memory_);
  EngineMoveCall call{move_of(coll, job.scratch.members()), place.number, nullptr,
                      coll.kind == CollKind::broadcast ? coll.root : -1};
  const OwnBlockCall own{call.move.dest[me], call.move.source[me], coll.nbytes};
  const DeviceCopy own_copy{own.dest, own.source, own.nbytes};
  bool own_is_there = own.dest == own.source || coll.receives(me) == 0;
  if (place.number != 0 && place.from_dest && own.dest != own.source && coll.sends(me) > 0) {
    must(sides_.copy({&own_copy, 1}, job.stream), "cuMemcpyAsync");
    own_is_there = true;
  }
  std::vector<DeviceCopy> fetched;
  for (int i = 1; i < job.n() && place.number != 0; ++i) {
    const int k = (me + i) % job.n();
    if (coll.receives(k) == 0) continue;
    const std::byte* const like = place.from_dest ? coll.dest_from(k) : coll.source_for(me);
    fetched.push_back({call.move.dest[k], of_member(coll, like, coll.nbytes, k), coll.nbytes});
  }
  const Step& copies = job.plan.steps[1];
  cuda::SideStreams::Work beside;
  if (place.number != 0 && !own_is_there)
    beside = [&](cuda::Stream stream) {
      return copies.blocks == 0 ? sides_.copy({&own_copy, 1}, stream) : kernels_.give(own, grid_of(copies), stream);
    };
  const auto meet_and_fetch = [&](cuda::Stream stream) {
    const cuda::Result met = kernels_.begin(call, grid_of(job.plan.steps[0]), stream);
    return met == cuda::kSuccess ? sides_.copy(fetched, stream) : met;
  };
  must(sides_.give(meet_and_fetch, beside, job.stream), "cuLaunchKernel or cuMemcpyAsync");
  must(kernels_.end(call, grid_of(job.plan.steps[2]), job.stream), "cuLaunchKernel");
}

/// Where this PE maps, in the heap of a member, the counterpart of `address`; null where that is no heap.
const void* NodeCollectives::of_member(const Coll& coll, const void* address, size_t nbytes,
                                       int member) const noexcept {
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(address) - memory_.base());
  if (offset >= memory_.nbytes() || nbytes > memory_.nbytes() - offset) return nullptr;
  const int pe = coll.team.pes.pe(member);
  return memory_.arena().address(static_cast<size_t>(coll.team.state.slot(pe)), offset);
}

}  // namespace railshmem
