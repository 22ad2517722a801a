// SPDX-License-Identifier: BSD-3-Clause
// Puts, gets and signals between arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// Adds put, get, put_signal and signal_op.
void bind_transfers(nanobind::module_& module);

}  // namespace railshmem::python
