// SPDX-License-Identifier: BSD-3-Clause
// What SHMEM_CHECK finds in the arguments of one PE's call. Each function ends the job with a message that names the
// call, its place in the program, the argument and its value.
#pragma once

#include "src/rma/pe_state.h"

namespace railshmem::check {

/// One buffer of a call.
struct Buffer {
  const char* argument;
  const void* address;
  size_t nbytes;
};

/// [address, address + nbytes) must be symmetric.
void must_be_symmetric(const PeState& state, const char* function, const Buffer& buffer) noexcept;

/// A local buffer may lie inside symmetric memory or outside, not across its border.
void must_not_cross(const PeState& state, const char* function, const Buffer& buffer) noexcept;

/// Two buffers may not share memory.
void must_not_overlap(const char* function, const Buffer& one, const Buffer& other) noexcept;

enum class InPlace : uint8_t { forbidden, allowed };

/// Checks the buffers of a collective: both must be symmetric, and must not overlap unless `in_place` lets both begin
/// at one address.
void check_operands(const PeState& state, const char* function, const Buffer& dest, const Buffer& source,
                    InPlace in_place) noexcept;

/// Bytes from the begin of the first to the end of the last of n elements that lie `stride` apart; 0 for values that
/// the call itself refuses.
size_t strided_bytes(size_t nelems, ptrdiff_t stride, size_t element) noexcept;

/// Checks a put or a get. `symmetric` is the address whose copy on PE `pe` is meant; a null `local` is not checked.
/// Where a caller names itself, `symmetric` may be any memory, and a warning says so.
void check_transfer(const PeState& state, const char* function, const void* symmetric, const void* local, size_t nbytes,
                    int pe) noexcept;

/// A SHMEM_CTX_PRIVATE context belongs to the thread that made it.
void check_context(const char* function, const Context& context) noexcept;

}  // namespace railshmem::check
