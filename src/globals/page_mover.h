// SPDX-License-Identifier: BSD-3-Clause
// Exchanges the pages behind an address range, contents unchanged: private memory to a file's, and back.
#pragma once

#include "src/base/process.h"

namespace railshmem {

// Both write no global, allocate nothing and take no lock; nobody else may write the range meanwhile.
// They return 0, or an errno with everything as it was.

/// Copies what is not zero into the file, then maps the file, shared, in its place. `pagemap` is an fd of
/// /proc/self/pagemap, or -1; it tells untouched pages without reading them.
int move_to_file(const PageRange& range, int pagemap) noexcept;

/// Copies the file's data into private memory, then puts that in its place.
int move_to_private(const PageRange& range) noexcept;

}  // namespace railshmem
