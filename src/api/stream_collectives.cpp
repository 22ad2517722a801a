// SPDX-License-Identifier: BSD-3-Clause
// Collectives of stream-ordered calls: by the plans of a node, else by the host.
#include "src/api/stream_calls.h"

#include "src/api/team_call.h"
#include "src/base/log.h"
#include "src/collective/operand.h"
#include "src/stream/node_collectives.h"
#include "src/stream/stream_side.h"

namespace railshmem {

OnStream on_stream(const char* function, shmemx_stream_t stream) noexcept {
  PeState& state = pe_state(function);
  World& world = job::world(function);
  if (world.streams() == nullptr) die("%s: %s", function, world.why_no_streams().c_str());
  return {function, stream, state, *world.streams(), world.gpu()->transfers()};
}

size_t CollOnStream::bytes(size_t nelems, size_t element) const noexcept {
  return total_bytes(call_.function(), nelems, element, call_.state().me);
}

int CollOnStream::meet(shmem_team_t handle, cuda::StreamStep step) noexcept {
  if (!find_team(call_.function(), handle)) return kBadTeam;
  cuda::StreamCall call{step};
  call.team = handle;
  call_.give(call);
  return 0;
}

void CollOnStream::give(const Coll& coll) noexcept {
  AttachedGpu& gpu = *job::world(call_.function()).gpu();
  NodeCollectives& node = *gpu.node_collectives();
  const auto stream = reinterpret_cast<cuda::Stream>(call_.stream());
  if (!node.serves(coll.team)) return gpu.executors()->give(coll, Buffers::symmetric, stream);
  try {
    node.give(coll, stream);
  } catch (const std::exception& e) {
    die("%s: %s", call_.function(), e.what());
  }
}

/// In an alltoall a block for each member, else one block for all.
int CollOnStream::exchange(CollKind kind, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                           size_t element) noexcept {
  Team* const team = find_team(call_.function(), handle);
  if (!team) return kBadTeam;
  if (nelems == 0) return 0;
  Coll coll{call_.function(), kind, *team};
  coll.nbytes = bytes(nelems, element);
  coll.source = source;
  coll.dest = dest;
  find_dest(*team, call_.function(), dest, bytes(coll.nbytes, static_cast<size_t>(team->size())));
  call_.must_be_device("dest", dest);
  call_.must_be_device("source", source);
  give(coll);
  return 0;
}

int CollOnStream::fcollect(shmem_team_t handle, void* dest, const void* source, size_t nelems,
                           size_t element) noexcept {
  return exchange(CollKind::allgather, handle, dest, source, nelems, element);
}

int CollOnStream::alltoall(shmem_team_t handle, void* dest, const void* source, size_t nelems,
                           size_t element) noexcept {
  return exchange(CollKind::alltoall, handle, dest, source, nelems, element);
}

int CollOnStream::broadcast(shmem_team_t handle, void* dest, const void* source, size_t nelems, size_t element,
                            int root) noexcept {
  Team* const team = find_team(call_.function(), handle);
  if (!team) return kBadTeam;
  check_member(call_.function(), *team, "PE_root", root);
  if (nelems == 0) return 0;
  Coll coll{call_.function(), CollKind::broadcast, *team};
  coll.nbytes = bytes(nelems, element);
  coll.root = root;
  coll.source = source;
  coll.dest = dest;
  find_dest(*team, call_.function(), dest, coll.nbytes);
  call_.must_be_device("dest", dest);
  if (team->rank == root) call_.must_be_device("source", source);
  give(coll);
  return 0;
}

void CollOnStream::check_operands(const Team& team, const void* dest, size_t dest_nbytes, const void* source,
                                  size_t source_nbytes) noexcept {
  find_dest(team, call_.function(), dest, dest_nbytes);
  locate(call_.state(), call_.function(), source, source_nbytes, call_.state().me);
  call_.must_be_device("dest", dest);
  call_.must_be_device("source", source);
}

int CollOnStream::combine(CollKind kind, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                          size_t element, ReduceOp op, TypeKind type) noexcept {
  Team* const team = find_team(call_.function(), handle);
  if (!team) return kBadTeam;
  if (nelems == 0) return 0;
  const bool deals = kind == CollKind::reducescatter;
  const size_t nbytes = bytes(nelems, element);
  const size_t parts = deals ? static_cast<size_t>(team->size()) : 1;
  check_operands(*team, dest, nbytes, source, bytes(nbytes, parts));
  Coll coll{call_.function(), kind, *team, type, op};
  coll.element = element;
  coll.nbytes = nbytes;
  coll.source = source;
  coll.dest = dest;
  give(coll);
  return 0;
}

int CollOnStream::reduce(shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element, ReduceOp op,
                         TypeKind type) noexcept {
  return combine(CollKind::allreduce, team, dest, source, nelems, element, op, type);
}

int CollOnStream::reducescatter(shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element,
                                ReduceOp op, TypeKind type) noexcept {
  return combine(CollKind::reducescatter, team, dest, source, nelems, element, op, type);
}

}  // namespace railshmem
