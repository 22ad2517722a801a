// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_CHECK for collectives with data: checks the buffers of this PE, and that all members make equal calls.
#pragma once

#include "src/check/agreement.h"
#include "src/check/arguments.h"

namespace railshmem::check {

enum class InPlace : uint8_t { forbidden, allowed };

/// dest and source must be symmetric, and must not overlap unless `in_place` lets both begin at one address. All
/// members must pass equal dest, source and arguments of `call`.
void check_collective(Team& team, CollectiveCall& call, const Buffer& dest, const Buffer& source,
                      InPlace in_place) noexcept;

/// Bytes from the begin of the first to the end of the last of n elements that lie `stride` apart; 0 for values that
/// the call itself refuses.
size_t strided_bytes(size_t nelems, ptrdiff_t stride, size_t element) noexcept;

}  // namespace railshmem::check
