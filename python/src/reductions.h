// SPDX-License-Identifier: BSD-3-Clause
// Which reduction of the library belongs to an operation and an element type that come at run time.
#pragma once

#include "python/src/array.h"
#include "shmem.h"

namespace railshmem::python {

/// A call of the library on buffers of the element type; the count is in elements. Returns 0, or nonzero after a
/// message.
using Reduction = int (*)(shmem_team_t, void* dest, const void* source, size_t nelems);

/// The all-reduce of op, which is "sum", "prod", "min", "max", "and", "or" or "xor": else ValueError. TypeError where
/// the operation does not have the element type of the array.
Reduction all_reduction(const char* function, const char* op, const Array& array);

/// Like all_reduction(), for reduce-scatter.
Reduction scattered_reduction(const char* function, const char* op, const Array& array);

}  // namespace railshmem::python
