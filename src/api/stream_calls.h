// SPDX-License-Identifier: BSD-3-Clause
// Stream-ordered calls, as the entry points make them.
#pragma once

#include "src/collective/reduce_ops.h"
#include "src/stream/on_stream.h"

namespace railshmem {

struct Coll;
enum class CollKind : uint8_t;
struct Team;

/// A call of this PE. Ends the job where there is no heap in device memory, with a message naming `function`.
OnStream on_stream(const char* function, shmemx_stream_t stream) noexcept;

/// A collective on a stream. Its functions return 0, or 1 for a handle that is no team of this PE.
class CollOnStream {
 public:
  CollOnStream(const char* function, shmemx_stream_t stream) noexcept : call_(on_stream(function, stream)) {}

  int meet(shmem_team_t team, cuda::StreamStep step) noexcept;
  int broadcast(shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element, int root) noexcept;
  int fcollect(shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element) noexcept;
  int alltoall(shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element) noexcept;
  int reduce(shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element, ReduceOp op,
             TypeKind kind) noexcept;
  int reducescatter(shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element, ReduceOp op,
                    TypeKind kind) noexcept;

 private:
  size_t bytes(size_t nelems, size_t element) const noexcept;
  void check_operands(const Team& team, const void* dest, size_t dest_nbytes, const void* source,
                      size_t source_nbytes) noexcept;
  void give(const Coll& coll) noexcept;
  int combine(CollKind kind, shmem_team_t team, void* dest, const void* source, size_t nelems, size_t element,
              ReduceOp op, TypeKind type) noexcept;
  int exchange(CollKind kind, shmem_team_t team, void* dest, const void* source, size_t nelems,
               size_t element) noexcept;

  OnStream call_;
};

}  // namespace railshmem
