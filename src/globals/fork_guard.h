// SPDX-License-Identifier: BSD-3-Clause
// A forked child gets its own copy of a shared range; without the copy it would write into its parent's globals.
#pragma once

#include "src/globals/page_mover.h"

namespace railshmem {

/// Whether the fork handlers could be registered when the library was loaded.
bool fork_guard_installed() noexcept;

/// Whether a thread is in the middle of fork(): it decided how to treat the range when it entered, so the range must
/// not change now.
bool fork_in_progress() noexcept;

/// The range that fork() copies; fd is -1 if none exists. One per process: it describes the address space itself.
PageRange guarded_range() noexcept;
void guard_range(const PageRange& range) noexcept;

}  // namespace railshmem
