// SPDX-License-Identifier: BSD-3-Clause
// Collectives of stream-ordered calls: copies by copy engines, or kernels.
#include <algorithm>

#include "src/api/job.h"
#include "src/api/stream_calls.h"
#include "src/api/stream_width.h"
#include "src/api/team_call.h"
#include "src/base/align.h"
#include "src/collective/operand.h"
#include "src/executor/executors.h"
#include "src/gpu/stream_side.h"

namespace railshmem {
namespace {

using cuda::StreamCall;
using cuda::StreamStep;
using cuda::StreamWidth;
using Kind = StreamedCollective::Kind;

/// Whether copy engines, and kernels of other members, reach the array on every member.
bool mapped_on_all(const Team& team, const void* array, size_t nbytes) noexcept {
  const Operand operand(team.state, array, nbytes);
  return team.nodes.one_node() && operand.on_device(team.state) && operand.mapped(team.state);
}

std::byte* of(const Team& team, const void* array, size_t nbytes, int rank) noexcept {
  return Operand(team.state, array, nbytes).of(team, rank);
}

/// Whether each member computes a part of a result of so many bytes, where arrays are mapped.
bool takes_parts(const Team& team, size_t nbytes) noexcept {
  return nbytes > 2 * DeviceControlLayout::kPacketBytes && team.size() <= DeviceReduction::kMost;
}

StreamCall reduction(StreamStep step, shmem_team_t team, void* dest, const void* source, size_t nbytes, ReduceOp op,
                     TypeKind kind) noexcept {
  StreamCall call{step};
  call.kind = kind;
  call.op = op;
  call.team = team;
  call.dest = dest;
  call.source = source;
  call.nbytes = nbytes;
  return call;
}

}  // namespace

int OnStream::meet(shmem_team_t handle, StreamStep step) noexcept {
  if (!find_team(function_, handle)) return kBadTeam;
  StreamCall call{step};
  call.team = handle;
  give(call);
  return 0;
}

/// Whether the host runs a collective on this array: some members reach each other only through the network.
bool OnStream::by_host(const Team& team, const void* array, size_t nbytes) noexcept {
  return job::world(function_).executors() && !mapped_on_all(team, array, nbytes);
}

int OnStream::give_host(const Team& team, const StreamedCollective& call) noexcept {
  job::world(function_).executors()->give(team, call, reinterpret_cast<cuda::Stream>(stream_));
  return 0;
}

/// Copies a block to every member, to this PE's place in the member's dest: in an alltoall a block for each member,
/// else one block for all.
int OnStream::exchange(StreamStep step, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                       size_t element) noexcept {
  const Team* const team = find_team(function_, handle);
  if (!team) return kBadTeam;
  if (nelems == 0) return 0;
  StreamCall call{step};
  call.team = handle;
  call.dest = dest;
  call.source = source;
  call.nbytes = total_bytes(function_, nelems, element, state_.me);
  const size_t all = total_bytes(function_, call.nbytes, static_cast<size_t>(team->size()), state_.me);
  find_dest(*team, function_, dest, all);
  must_be_device("dest", dest);
  must_be_device("source", source);
  if (by_host(*team, dest, all))
    return give_host(*team, {step == StreamStep::alltoall ? Kind::alltoall : Kind::fcollect, function_, dest, source,
                             nelems, element});
  if (!mapped_on_all(*team, dest, all)) return give(call, StreamWidth::block), 0;
  if (all <= kByCluster) return give(call, width_of(all)), 0;
  const size_t place = static_cast<size_t>(team->rank) * call.nbytes;
  const size_t apart = step == StreamStep::alltoall ? call.nbytes : 0;
  for (int i = 0; i < team->size(); ++i) {
    const int to = (team->rank + i) % team->size();
    const auto* const block = static_cast<const std::byte*>(source) + static_cast<size_t>(to) * apart;
    copy(of(*team, dest, all, to) + place, block, call.nbytes);
  }
  return meet(handle, StreamStep::sync);
}

int OnStream::fcollect(shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element) noexcept {
  return exchange(StreamStep::fcollect, handle, dest, source, nelems, element);
}

int OnStream::alltoall(shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element) noexcept {
  return exchange(StreamStep::alltoall, handle, dest, source, nelems, element);
}

int OnStream::broadcast(shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element,
                        int root) noexcept {
  Team* const team = find_team(function_, handle);
  if (!team) return kBadTeam;
  check_member(function_, *team, "PE_root", root);
  if (nelems == 0) return 0;
  StreamCall call{StreamStep::broadcast};
  call.team = handle;
  call.dest = dest;
  call.source = source;
  call.nbytes = total_bytes(function_, nelems, element, state_.me);
  call.pe = root;
  find_dest(*team, function_, dest, call.nbytes);
  must_be_device("dest", dest);
  if (team->rank == root) must_be_device("source", source);
  if (by_host(*team, dest, call.nbytes))
    return give_host(*team,
                     {Kind::broadcast, function_, dest, source, nelems, element, ReduceOp::sum, TypeKind::u8, root});
  if (!mapped_on_all(*team, dest, call.nbytes)) return give(call, StreamWidth::block), 0;
  const size_t all = call.nbytes * static_cast<size_t>(team->size());
  if (all <= kByCluster) return give(call, width_of(all)), 0;
  for (int i = 0; i < team->size() && team->rank == root; ++i)
    copy(of(*team, dest, call.nbytes, (root + i) % team->size()), source, call.nbytes);
  return meet(handle, StreamStep::sync);
}

void OnStream::check_operands(const Team& team, const void* dest, size_t dest_nbytes, const void* source,
                              size_t source_nbytes) noexcept {
  find_dest(team, function_, dest, dest_nbytes);
  locate(state_, function_, source, source_nbytes, state_.me);
  must_be_device("dest", dest);
  must_be_device("source", source);
}

/// `part` is this member's part, `loaded` the bytes that it loads. A part without operands is computed by one block,
/// piece by piece: for members that do not reach each other's arrays, and for vectors that fit into one piece, which
/// takes one meeting less.
int OnStream::compute(const StreamCall& call, DeviceReduction& part, size_t loaded) noexcept {
  const auto stream = reinterpret_cast<cuda::Stream>(stream_);
  part.op = call.op;
  part.kind = call.kind;
  if (part.noperands == 0) return side_->reduce_among(call, part, StreamWidth::block, stream), 0;
  if (loaded <= kReducedByCluster) return side_->reduce_among(call, part, width_of(loaded), stream), 0;
  meet(call.team, StreamStep::sync);  // all sources are ready
  if (part.nelems > 0) side_->reduce(part, stream);
  return meet(call.team, StreamStep::sync);  // all have read them
}

int OnStream::reduce(shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element, ReduceOp op,
                     TypeKind kind) noexcept {
  Team* const team = find_team(function_, handle);
  if (!team) return kBadTeam;
  if (nelems == 0) return 0;
  const size_t nbytes = total_bytes(function_, nelems, element, state_.me);
  check_operands(*team, dest, nbytes, source, nbytes);
  if (by_host(*team, dest, nbytes))
    return give_host(*team, {Kind::reduce, function_, dest, source, nelems, element, op, kind});
  const StreamCall call = reduction(StreamStep::reduce, handle, dest, source, nbytes, op, kind);
  const auto members = static_cast<size_t>(team->size());
  DeviceReduction part{};
  if (takes_parts(*team, nbytes) && mapped_on_all(*team, dest, nbytes)) {
    // Parts begin where many elements can be loaded at once.
    const size_t share = align_up((nelems + members - 1) / members, 16);
    const size_t first = std::min(nelems, share * static_cast<size_t>(team->rank));
    part.noperands = part.nresults = team->size();
    part.nelems = std::min(nelems - first, share);
    for (int i = 0; i < team->size(); ++i) {
      part.operands[i] = of(*team, source, nbytes, i) + first * element;
      part.results[i] = of(*team, dest, nbytes, i) + first * element;
    }
  }
  return compute(call, part, nbytes);
}

int OnStream::reducescatter(shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element,
                            ReduceOp op, TypeKind kind) noexcept {
  Team* const team = find_team(function_, handle);
  if (!team) return kBadTeam;
  if (nelems == 0) return 0;
  const size_t nbytes = total_bytes(function_, nelems, element, state_.me);
  const size_t all = total_bytes(function_, nbytes, static_cast<size_t>(team->size()), state_.me);
  check_operands(*team, dest, nbytes, source, all);
  if (by_host(*team, source, all))
    return give_host(*team, {Kind::reducescatter, function_, dest, source, nelems, element, op, kind});
  const StreamCall call = reduction(StreamStep::reducescatter, handle, dest, source, nbytes, op, kind);
  // Where dest is a part of source, on any member, others may still read elements that this PE would overwrite.
  const bool apart = reinterpret_cast<uintptr_t>(dest) - reinterpret_cast<uintptr_t>(source) >= all;
  DeviceReduction part{};
  if (apart && takes_parts(*team, nbytes) && mapped_on_all(*team, source, all)) {
    part.noperands = team->size();
    part.nresults = 1;
    part.nelems = nelems;
    for (int i = 0; i < team->size(); ++i)
      part.operands[i] = of(*team, source, all, i) + static_cast<size_t>(team->rank) * nbytes;
    part.results[0] = dest;
  }
  return compute(call, part, all);
}

}  // namespace railshmem
