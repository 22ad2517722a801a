// SPDX-License-Identifier: BSD-3-Clause
// The host's collective that does what a Coll asks for.
#pragma once

#include "src/stream/coll.h"

namespace railshmem {

/// Buffers that other members touch are symmetric; no lists and no counts. Touches the memory of another member only
/// when that member runs it, too.
void run_host_collective(const Coll& coll) noexcept;

}  // namespace railshmem
