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
      copies_(memory.gpu()),
      choice_(choice),
      view_(view),
      scratches_(memory, slots) {}

void NodeCollectives::must(cuda::Result result, const char* call) const noexcept {
  if (result != cuda::kSuccess) memory_.gpu().die_of(result, call);
}

template <class Call>
void NodeCollectives::launch(const Job& job, const Call& call) const noexcept {
  const cuda::CollKernels::Grid grid{job.step.blocks, job.step.threads};
  if constexpr (std::is_same_v<Call, cuda::EvenMoveCall> || std::is_same_v<Call, cuda::EvenCombineCall>) {
    must(kernels_.give(call, job.step.units, grid, job.stream), "cuLaunchKernel");
  } else {
    must(kernels_.give(call, grid, job.stream), "cuLaunchKernel");
  }
}

bool NodeCollectives::serves(const Team& team) const noexcept {
  return team.nodes.one_node() && team.size() <= cuda::kMostMembers && (team.size() == 1 || memory_.reaches_node());
}

void NodeCollectives::tell_late_launches(FaultRecord* record) {
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
  const Job job{coll, plan, scratch, stream, *plan.begin()};
  if (plan.algorithm == Algorithm::engines) return move_by_engines(job);
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
  if (job.step.kind != StepKind::direct) return launch(job, call);
  launch(job, DirectMoveCall{call, direct_whereabouts(coll, buffers_, job.scratch.pes(), {false, true}, job.stream)});
}

/// Every member fetches. It takes the others' buffers to lie in their heaps where its own lie in its heap; the kernel
/// behind the copies knows where they do lie.
void NodeCollectives::move_by_engines(const Job& job) {
  const Coll& coll = job.coll;
  const int me = coll.team.rank;
  const bool broadcast = coll.kind == CollKind::broadcast;
  EngineMoveCall call{{move_of(coll, job.scratch.members()), {}}, nullptr, broadcast ? coll.root : -1, {}};
  WhereaboutsOf mine(buffers_, job.scratch.pes(), me, job.stream);
  const auto sends = [&](int k) { return coll.sends(k); };
  mine.tell(
      call.direct.where.source, [&](int k) { return coll.source_for(k); }, sends);
  // A source that the others do not reach is first copied to this member's own dest, where they may.
  const std::byte* const own_dest = coll.dest_from(me);
  const bool in_place = coll.sends(me) > 0 && coll.source_for(me) == own_dest;
  bool from_dest = in_place;
  if (!mine.for_all() && !coll.deals()) {
    mine.start_again();
    mine.tell(
        call.direct.where.source, [&](int) { return own_dest; }, sends);
    from_dest = mine.for_all();
    const cuda::CopyFan::Chain own{{call.direct.move.dest[me], coll.source_for(me), coll.nbytes}};
    if (from_dest && !in_place && coll.sends(me) > 0) must(copies_.give({&own, 1}, job.stream), "cuMemcpyAsync");
  }
  if (spoils_sources(coll)) mine.not_for_all();
  mine.finish(call.direct.where);
  std::vector<cuda::CopyFan::Chain> fetched;
  for (int i = 1; i < job.n(); ++i) {
    const int k = (me + i) % job.n();
    // Where this member keeps all from reaching what they need, the kernel behind the copies does everything.
    if (coll.receives(k) == 0 || !mine.for_all()) continue;
    const std::byte* const like = from_dest ? coll.dest_from(k) : coll.source_for(me);
    call.expected[k] = of_member(coll, like, coll.nbytes, k);
    if (call.expected[k] != nullptr) fetched.push_back({{call.direct.move.dest[k], call.expected[k], coll.nbytes}});
  }
  const auto grid = [](const Step& step) { return cuda::CollKernels::Grid{step.blocks, step.threads}; };
  // The own block goes beside others only: the kernel behind the copies would wait for it.
  const Step& copies = job.plan.steps[1];
  const OwnBlockCall own{call.direct.move.dest[me], call.direct.move.source[me], coll.nbytes};
  cuda::CopyFan::Work beside;
  if (from_dest) {
    call.expected[me] = own.source;
  } else if (!fetched.empty() && coll.receives(me) != 0) {
    call.expected[me] = own.source;
    if (copies.blocks == 0) {
      fetched.push_back({{own.dest, own.source, own.nbytes}});
    } else {
      beside = [&](cuda::Stream stream) { return kernels_.give(own, grid(copies), stream); };
    }
  }
  const auto meet = [&](cuda::Stream stream) { return kernels_.begin(call, grid(job.plan.steps[0]), stream); };
  must(copies_.give(meet, fetched, beside, job.stream), "cuLaunchKernel or cuMemcpyAsync");
  must(kernels_.end(call, grid(job.plan.steps[2]), job.stream), "cuLaunchKernel");
}

/// The address here of what lies in the heap of a member where `address` lies in this PE's; null where that is no heap.
const void* NodeCollectives::of_member(const Coll& coll, const void* address, size_t nbytes,
                                       int member) const noexcept {
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(address) - memory_.base());
  if (offset >= memory_.nbytes() || nbytes > memory_.nbytes() - offset) return nullptr;
  const int pe = coll.team.pes.pe(member);
  return memory_.arena().address(static_cast<size_t>(coll.team.state.slot(pe)), offset);
}

}  // namespace railshmem
