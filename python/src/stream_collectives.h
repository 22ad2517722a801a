// SPDX-License-Identifier: BSD-3-Clause
// Collectives of CUDA tensors in the order of a stream.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// Adds coll_on_stream, broadcast_on_stream and all_to_all_v_on_stream.
void bind_stream_collectives(nanobind::module_& module);

}  // namespace railshmem::python
