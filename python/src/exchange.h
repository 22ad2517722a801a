// SPDX-License-Identifier: BSD-3-Clause
// What tensors and streams are, by the C functions that torch has for this since 2.10 (DLPack's exchange API). Reading
// attributes of Python instead takes ten times as long.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>

#include "python/src/tensor.h"
#include "shmem/stream.h"

namespace railshmem::python {

/// The table of functions that the capsule __dlpack_c_exchange_api__ of a class of tensors holds; lives as long as the
/// process.
struct Exchange;

/// Null where the capsule is None, or holds a version that this module does not know.
const Exchange* exchange_of(nanobind::handle capsule) noexcept;

/// Memory, and whether it is contiguous in C order. A tensor without elements has no address here.
struct SeenTensor {
  TensorMemory memory;
  bool contiguous;
};

/// Nothing where the function or this module does not know the tensor's element type or device, or where the tensor has
/// no memory. The object is a tensor of the class that the table belongs to.
std::optional<SeenTensor> see_tensor(const Exchange& exchange, nanobind::handle tensor) noexcept;

/// Torch's current stream of this GPU. Nothing where the function cannot tell.
std::optional<shmemx_stream_t> current_stream(const Exchange& exchange, int device) noexcept;

}  // namespace railshmem::python
