// SPDX-License-Identifier: BSD-3-Clause
// A collective that a stream has the host run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/reduce_kind.h"
#include "src/team/team.h"

namespace railshmem {

/// Its arguments were checked when the stream was given the call.
struct StreamedCollective {
  enum class Kind : uint8_t { broadcast, fcollect, alltoall, reduce, reducescatter };

  Kind kind;
  const char* function;  ///< as the program called it; never freed
  void* dest;
  const void* source;
  size_t nelems;                 ///< as the function of that name counts them; at least 1
  size_t element;                ///< bytes
  ReduceOp op = ReduceOp::sum;   ///< reduce, reducescatter
  TypeKind type = TypeKind::u8;  ///< reduce, reducescatter
  int root = 0;                  ///< broadcast
};

/// Runs it as a member of `team`. Touches the memory of another member only when that member runs it, too.
void run_collective(Team& team, const StreamedCollective& call) noexcept;

}  // namespace railshmem
