// SPDX-License-Identifier: BSD-3-Clause
// Operations of reductions of tensors: their names, and which element types they take.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "python/src/array.h"

namespace railshmem::python {

/// One of the operations, all of whose names are known.
struct Operation {
  const char* name;  ///< the one that messages and railshmem.torch have for it
  int value;         ///< SHMEMX_OP_
};

/// The operation of this name, a Python string. ValueError if none exists, or where a factor is given to another
/// one than "premul"; TypeError where it makes no sense with the element type of the array.
const Operation& operation_of(const char* function, nanobind::handle name, const std::optional<double>& factor,
                              const Array& array);

/// Adds checked_op(function, op, factor, input), which returns the name.
void bind_operations(nanobind::module_& module);

}  // namespace railshmem::python
