// SPDX-License-Identifier: BSD-3-Clause
// The host's collective that does what a Coll asks for.
#pragma once

#include "src/collective/reduction.h"
#include "src/stream/coll.h"

namespace railshmem {

/// What a Coll that reduces asks for. Floating-point numbers of 16 and 8 bits are rounded once.
Reduction reduction_of(const Coll& coll) noexcept;

/// Buffers that other members touch are symmetric; no lists and no counts. Touches the memory of another member only
/// when that member runs it, too.
void run_host_collective(const Coll& coll) noexcept;

}  // namespace railshmem
