// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations on words of other PEs.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// Adds atomic_fetch, atomic_set, atomic_add, atomic_fetch_add, atomic_swap and atomic_compare_swap.
void bind_atomics(nanobind::module_& module);

}  // namespace railshmem::python
