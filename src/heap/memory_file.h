// SPDX-License-Identifier: BSD-3-Clause
// Anonymous memory that other processes can map: a memfd.
#pragma once

#include <cstddef>

#include "src/base/unique.h"

namespace railshmem {

/// A file of `nbytes` of zeros that no page backs yet; `flags` are MFD_* beyond MFD_CLOEXEC, the name shows in /proc.
/// Empty, with errno, when it cannot be had.
UniqueFd create_memory_file(const char* name, size_t nbytes, unsigned flags = 0) noexcept;

}  // namespace railshmem
