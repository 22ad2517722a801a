// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/moe_arguments.h"

#include "python/src/device.h"
#include "python/src/errors.h"
#include "python/src/heap.h"
#include "python/src/state.h"
#include "python/src/tensor.h"

namespace railshmem::python {

shmem_team_t team_of(const char* function, const Team* team) {
  return team ? team->use(function) : SHMEM_TEAM_WORLD;
}

void must(const char* function, int status) {
  if (status != 0)
    state_error(text(function, ": the library refused the call; its message on standard error says why"));
}

MoeArguments::MoeArguments(const char* function, const Array& workspace) : run_(run_number()) {
  require_device_heap(function);
  if (workspace.on_host())
    type_error(text(function, ": workspace is in the memory of the CPU; pass a symmetric CUDA tensor"));
  if (!is_symmetric(workspace))
    value_error(text(function, ": workspace is not symmetric; make it with railshmem.torch.empty() on every PE"));
  device_ = workspace.device();
}

void MoeArguments::require_live(const char* function, const void* handle) const {
  require_running(function);
  if (handle == nullptr) state_error(text(function, ": this exchange was freed; make a new one"));
  if (run_ != run_number())
    state_error(text(function, ": this exchange is of the time before finalize(); make a new one"));
}

void* MoeArguments::of(const char* function, const Array& array, const Wanted& wanted, size_t unit) const {
  if (array.on_host())
    type_error(text(function, ": ", array.argument(), " is in the memory of the CPU; move it with to()"));
  if (array.device() != device_)
    type_error(text(function, ": ", array.argument(), " is on the device cuda:", array.device(),
                    ", and the exchange on cuda:", device_, "; move it with to()"));
  if (array.kind() != wanted.kind || array.itemsize() != wanted.itemsize)
    type_error(text(function, ": ", array.argument(), " has elements of ", array.type_name(), "; they must be of ",
                    wanted.name));
  if (reinterpret_cast<uintptr_t>(array.data()) % unit != 0)
    value_error(text(function, ": ", array.argument(), " does not begin at a multiple of ", unit,
                     " bytes; pass a copy by clone()"));
  return array.data();
}

void* MoeArguments::of(const char* function, const Array& array, const Wanted& wanted, size_t elements,
                       size_t unit) const {
  void* const data = of(function, array, wanted, 1);
  if (array.elements() != elements)
    value_error(
        text(function, ": ", array.argument(), " has ", array.elements(), " elements; it must have ", elements));
  of(function, array, wanted, unit);
  return data;
}

shmemx_stream_t MoeArguments::current_stream() const {
  return stream_of(device_, nanobind::none());
}

}  // namespace railshmem::python
