// SPDX-License-Identifier: BSD-3-Clause
// Collectives between nodes whose buffers may lie anywhere in the memory of GPUs.
#pragma once

#include "src/stream/coll.h"

namespace railshmem {

/// The members tell each other whether their buffers lie at one symmetric address. If they do, nothing is copied. Else
/// the data goes by way of the team's scratch slot, slice by slice. Touches the memory of another member only when that
/// member runs it, too.
void run_with_any_buffers(const Coll& coll) noexcept;

}  // namespace railshmem
