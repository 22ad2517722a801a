// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "src/base/unique.h"

namespace railshmem::oshrun {

/// Blocks these signals and lets a descriptor tell of them instead. SIGPIPE is blocked too: writes say EPIPE.
UniqueFd catch_signals(std::span<const int> signals);

/// From here on these signals do what they do to any process.
void release_signals(std::span<const int> signals) noexcept;

}  // namespace railshmem::oshrun
