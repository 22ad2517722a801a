// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/host_collective.h"

#include "src/collective/collectives.h"

namespace railshmem {

Reduction reduction_of(const Coll& coll) noexcept {
  return {coll.function,
          find_combine(coll.op, coll.type),
          coll.element,
          coll.nbytes / coll.element,
          static_cast<std::byte*>(coll.dest),
          static_cast<const std::byte*>(coll.source),
          coll.op,
          coll.type,
          Rounding::once,
          coll.scaling,
          coll.factor};
}

void run_host_collective(const Coll& coll) noexcept {
  Team& team = coll.team;
  switch (coll.kind) {
    case CollKind::allgather:
      return fcollect_when_come(team, coll.function, coll.dest, coll.source, coll.nbytes);
    case CollKind::alltoall:
    case CollKind::alltoallv:
      return alltoall_when_come(team, coll.function, coll.dest, coll.source, coll.nbytes);
    case CollKind::allreduce:
      return reduce(team, reduction_of(coll));
    case CollKind::reducescatter:
      return reducescatter(team, reduction_of(coll));
    case CollKind::broadcast:
      // From dest, which all members know; source is the root's alone.
      if (team.rank == coll.root) copy_own(team.state.device, coll.dest, coll.source, coll.nbytes);
      sync(team, coll.function);  // or it would write to members that have not come
      return broadcast(team, coll.function, coll.dest, coll.dest, coll.nbytes, coll.root);
  }
}

}  // namespace railshmem
