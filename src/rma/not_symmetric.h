// SPDX-License-Identifier: BSD-3-Clause
// Why an address cannot be the target of a call: for the messages of calls and of SHMEM_CHECK.
#pragma once

#include <string>

#include "src/rma/pe_state.h"

namespace railshmem {

/// Why an address outside of symmetric memory is not symmetric, and what to do: "is not symmetric: it is on the stack;
/// allocate with shmem_malloc ...".
std::string why_not_symmetric(const PeState& state, const void* address);

}  // namespace railshmem
