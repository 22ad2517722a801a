// SPDX-License-Identifier: BSD-3-Clause
// Tensors of torch as memory, without linking torch: by the functions of python/src/exchange.h, or by attributes.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "python/src/array.h"
#include "shmem/stream.h"

namespace railshmem::python {

/// The memory of one tensor.
struct TensorMemory {
  void* data;
  size_t nelems;
  size_t itemsize;  ///< bytes
  Kind kind;
  int device;  ///< number of the GPU, or kOnHost
};

/// Whether the object is a tensor of torch.
bool is_tensor(nanobind::handle object) noexcept;

/// Whether it is one that a CUDA device has; the object may be null.
bool is_on_gpu(nanobind::handle object);

/// Nothing where the object is no tensor. TypeError for an element type without meaning here, or a tensor without
/// memory of its own. ValueError where it is not contiguous.
std::optional<TensorMemory> read_tensor(const char* function, const char* argument, nanobind::handle object);

/// Where a call with this array happens: nothing for the host, now; else a stream of its GPU. `stream` is None for
/// torch's current one, or the number that torch.cuda.Stream.cuda_stream is. TypeError for a stream and host memory.
std::optional<shmemx_stream_t> stream_for(const char* function, const Array& array, nanobind::handle stream);

/// A stream of this GPU: torch's current one where `stream` is None, else the one of that number.
shmemx_stream_t stream_of(int device, nanobind::handle stream);

/// Adds know_torch(tensor_type, element_types, raw_stream, exchange, parameter_type), which railshmem.torch calls.
void bind_tensors(nanobind::module_& module);

}  // namespace railshmem::python
