// SPDX-License-Identifier: BSD-3-Clause
// A collective that a stream has the host run.
#pragma once

#include <vector>

#include "src/stream/coll.h"

namespace railshmem {

/// Keeps a Coll, and what its arguments point to, until the stream comes to it.
class StreamedCollective {
 public:
  /// `coll` was checked. Throws std::bad_alloc.
  explicit StreamedCollective(const Coll& coll);

  const char* function() const noexcept { return function_; }
  /// Runs it as a member of `team`, which has the members of the Coll's team. Touches the memory of another member only
  /// when that member runs it, too.
  void run(Team& team) const noexcept;

 private:
  const char* function_;
  CollKind kind_;
  TypeKind type_;
  ReduceOp op_;
  Scaling scaling_;
  double factor_;
  int root_;
  size_t element_;
  size_t nbytes_;
  const void* source_;
  void* dest_;
};

}  // namespace railshmem
