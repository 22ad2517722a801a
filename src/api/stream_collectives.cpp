// SPDX-License-Identifier: BSD-3-Clause
// Collectives of stream-ordered calls: by the plans of a node, else by the host.
#include "src/api/stream_calls.h"
#include "src/api/team_call.h"
#include "src/base/log.h"
#include "src/collective/operand.h"
#include "src/stream/node_collectives.h"
#include "src/stream/stream_side.h"

namespace railshmem {

int OnStream::meet(shmem_team_t handle, cuda::StreamStep step) noexcept {
  if (!find_team(function_, handle)) return kBadTeam;
  cuda::StreamCall call{step};
  call.team = handle;
  give(call);
  return 0;
}

void OnStream::give(const Coll& coll) noexcept {
  AttachedGpu& gpu = *job::world(function_).gpu();
  NodeCollectives& node = *gpu.node_collectives();
  const auto stream = reinterpret_cast<cuda::Stream>(stream_);
  if (!node.serves(coll.team)) return gpu.executors()->give(coll, Buffers::symmetric, stream);
  try {
    node.give(coll, stream);
  } catch (const std::exception& e) {
    die("%s: %s", function_, e.what());
  }
}

/// In an alltoall a block for each member, else one block for all.
int OnStream::exchange(CollKind kind, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                       size_t element) noexcept {
  Team* const team = find_team(function_, handle);
  if (!team) return kBadTeam;
  if (nelems == 0) return 0;
  Coll coll{function_, kind, *team};
  coll.nbytes = total_bytes(function_, nelems, element, state_.me);
  coll.source = source;
  coll.dest = dest;
  find_dest(*team, function_, dest, total_bytes(function_, coll.nbytes, static_cast<size_t>(team->size()), state_.me));
  must_be_device("dest", dest);
  must_be_device("source", source);
  give(coll);
  return 0;
}

int OnStream::fcollect(shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element) noexcept {
  return exchange(CollKind::allgather, handle, dest, source, nelems, element);
}

int OnStream::alltoall(shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element) noexcept {
  return exchange(CollKind::alltoall, handle, dest, source, nelems, element);
}

int OnStream::broadcast(shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element,
                        int root) noexcept {
  Team* const team = find_team(function_, handle);
  if (!team) return kBadTeam;
  check_member(function_, *team, "PE_root", root);
  if (nelems == 0) return 0;
  Coll coll{function_, CollKind::broadcast, *team};
  coll.nbytes = total_bytes(function_, nelems, element, state_.me);
  coll.root = root;
  coll.source = source;
  coll.dest = dest;
  find_dest(*team, function_, dest, coll.nbytes);
  must_be_device("dest", dest);
  if (team->rank == root) must_be_device("source", source);
  give(coll);
  return 0;
}

void OnStream::check_operands(const Team& team, const void* dest, size_t dest_nbytes, const void* source,
                              size_t source_nbytes) noexcept {
  find_dest(team, function_, dest, dest_nbytes);
  locate(state_, function_, source, source_nbytes, state_.me);
  must_be_device("dest", dest);
  must_be_device("source", source);
}

int OnStream::combine(CollKind kind, shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element,
                      ReduceOp op, TypeKind type) noexcept {
  Team* const team = find_team(function_, handle);
  if (!team) return kBadTeam;
  if (nelems == 0) return 0;
  const bool deals = kind == CollKind::reducescatter;
  const size_t nbytes = total_bytes(function_, nelems, element, state_.me);
  const size_t parts = deals ? static_cast<size_t>(team->size()) : 1;
  check_operands(*team, dest, nbytes, source, total_bytes(function_, nbytes, parts, state_.me));
  Coll coll{function_, kind, *team, type, op};
  coll.element = element;
  coll.nbytes = nbytes;
  coll.source = source;
  coll.dest = dest;
  give(coll);
  return 0;
}

int OnStream::reduce(shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element, ReduceOp op,
                     TypeKind type) noexcept {
  return combine(CollKind::allreduce, team, dest, source, nelems, element, op, type);
}

int OnStream::reducescatter(shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element,
                            ReduceOp op, TypeKind type) noexcept {
  return combine(CollKind::reducescatter, team, dest, source, nelems, element, op, type);
}

}  // namespace railshmem
