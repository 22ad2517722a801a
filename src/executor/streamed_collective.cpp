// SPDX-License-Identifier: BSD-3-Clause
#include "src/executor/streamed_collective.h"

#include "src/collective/blocks.h"
#include "src/collective/broadcast.h"
#include "src/collective/reduce.h"
#include "src/collective/reducescatter.h"
#include "src/collective/sync.h"

namespace railshmem {
namespace {

Reduction reduction_of(const StreamedCollective& call) noexcept {
  return {call.function,
          find_combine(call.op, call.type),
          call.element,
          call.nelems,
          static_cast<std::byte*>(call.dest),
          static_cast<const std::byte*>(call.source),
          call.op,
          call.type};
}

}  // namespace

void run_collective(Team& team, const StreamedCollective& call) noexcept {
  using Kind = StreamedCollective::Kind;
  const size_t nbytes = call.nelems * call.element;
  switch (call.kind) {
    case Kind::broadcast:
      sync(team, call.function);  // or it would write to members that have not come
      return broadcast(team, call.function, call.dest, call.source, nbytes, call.root);
    case Kind::fcollect:
      return fcollect_when_come(team, call.function, call.dest, call.source, nbytes);
    case Kind::alltoall:
      return alltoall_when_come(team, call.function, call.dest, call.source, nbytes);
    case Kind::reduce:
      return reduce(team, reduction_of(call));
    case Kind::reducescatter:
      return reducescatter(team, reduction_of(call));
  }
}

}  // namespace railshmem
