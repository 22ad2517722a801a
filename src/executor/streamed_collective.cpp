// SPDX-License-Identifier: BSD-3-Clause
#include "src/executor/streamed_collective.h"

#include "src/collective/blocks.h"
#include "src/collective/broadcast.h"
#include "src/collective/reduce.h"
#include "src/collective/reducescatter.h"
#include "src/collective/sync.h"

namespace railshmem {

StreamedCollective::StreamedCollective(const Coll& coll)
    : function_(coll.function),
      kind_(coll.kind),
      type_(coll.type),
      op_(coll.op),
      scaling_(coll.scaling),
      factor_(coll.factor),
      root_(coll.root),
      element_(coll.element),
      nbytes_(coll.nbytes),
      source_(coll.source),
      dest_(coll.dest) {}

void StreamedCollective::run(Team& team) const noexcept {
  const Reduction reduction{function_,
                            find_combine(op_, type_),
                            element_,
                            nbytes_ / element_,
                            static_cast<std::byte*>(dest_),
                            static_cast<const std::byte*>(source_),
                            op_,
                            type_,
                            Rounding::once,
                            scaling_,
                            factor_};
  switch (kind_) {
    case CollKind::allgather:
      return fcollect_when_come(team, function_, dest_, source_, nbytes_);
    case CollKind::alltoall:
    case CollKind::alltoallv:
      return alltoall_when_come(team, function_, dest_, source_, nbytes_);
    case CollKind::allreduce:
      return reduce(team, reduction);
    case CollKind::reducescatter:
      return reducescatter(team, reduction);
    case CollKind::broadcast:
      sync(team, function_);  // or it would write to members that have not come
      return broadcast(team, function_, dest_, source_, nbytes_, root_);
  }
}

}  // namespace railshmem
