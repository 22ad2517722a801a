// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_CHECK for collectives with data: the buffers of this PE, and the same call on all members.
#pragma once

#include "src/check/agreement.h"
#include "src/check/arguments.h"

namespace railshmem::check {

enum class InPlace : uint8_t { forbidden, allowed };

/// dest and source must be symmetric, apart (or one), and the same on all members, like what `call` says already.
void check_collective(Team& team, CollectiveCall& call, const Buffer& dest, const Buffer& source,
                      InPlace in_place) noexcept;

/// Bytes from the first to behind the last of n elements that lie `stride` apart; 0 where that makes no sense, which
/// the call itself says.
size_t strided_bytes(size_t nelems, ptrdiff_t stride, size_t element) noexcept;

}  // namespace railshmem::check
