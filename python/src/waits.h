// SPDX-License-Identifier: BSD-3-Clause
// Waits for words that peers update.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// Adds wait_until and wait_signal.
void bind_waits(nanobind::module_& module);

}  // namespace railshmem::python
