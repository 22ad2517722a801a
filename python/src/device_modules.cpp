// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/device_modules.h"

#include <cstdint>

#include "python/src/errors.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

template <class Handle>
Handle handle_of(uint64_t number) {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(number));
}

template <class Handle>
void introduce(int (*init)(Handle), uint64_t number) {
  int status;
  {
    const nanobind::gil_scoped_release waits;  // for a copy to the GPU
    status = init(handle_of<Handle>(number));
  }
  if (status != 0)
    state_error("railshmem: the library refuses a module of kernels that call it; its message on stderr says why");
}

void device_module_init(uint64_t module) {
  introduce<shmemx_cumodule_t>(shmemx_cumodule_init, module);
}

void device_library_init(uint64_t library) {
  introduce<shmemx_culibrary_t>(shmemx_culibrary_init, library);
}

/// False, after a message, where the library does not know it.
bool device_library_finalize(uint64_t library) {
  return shmemx_culibrary_finalize(handle_of<shmemx_culibrary_t>(library)) == 0;
}

}  // namespace

void bind_device_modules(nanobind::module_& module) {
  module.def("device_module_init", device_module_init, nanobind::arg("module"));
  module.def("device_library_init", device_library_init, nanobind::arg("library"));
  module.def("device_library_finalize", device_library_finalize, nanobind::arg("library"));
}

}  // namespace railshmem::python
