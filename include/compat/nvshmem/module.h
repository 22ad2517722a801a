// SPDX-License-Identifier: BSD-3-Clause
//
// Modules that the program loads itself (cuModuleLoad, cuLibraryLoadData): their kernels' view of the job is kept up to
// date from nvshmemx_cumodule_init, which comes after the start of the library, to nvshmemx_cumodule_finalize. Programs
// that call these link the CUDA driver library, which loaded the module.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_MODULE_H
#define RAILSHMEM_COMPAT_NVSHMEM_MODULE_H

#include "nvshmem/constants.h"

#if defined(__CUDACC__)

#include <mutex>
#include <vector>

namespace railshmem {
namespace compat {
namespace {

/// Where the modules of this unit keep their views.
struct Modules {
  struct Entry {
    const void* handle;  ///< the module or library
    CUdeviceptr view;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
  int error = 0;  ///< of the driver, at the last copy
};

inline Modules& modules() {
  static Modules* const all = new Modules;  // outlives static objects: the library may call at exit
  return *all;
}

inline int fill_modules(const void* view, size_t nbytes) {
  const std::lock_guard<std::mutex> guard(modules().mutex);
  modules().error = 0;
  for (const Modules::Entry& entry : modules().entries) {
    if (const CUresult result = cuMemcpyHtoD(entry.view, view, nbytes)) modules().error = static_cast<int>(result);
  }
  return modules().error;
}

inline int add_module(const void* handle, CUdeviceptr view, size_t nbytes) {
  if (nbytes != sizeof(WorldView)) return NVSHMEMX_ERROR_INVALID_VALUE;  // compiled with other headers
  {
    const std::lock_guard<std::mutex> guard(modules().mutex);
    modules().entries.push_back({handle, view});
  }
  // Registering a unit makes the library fill it, so one that is known already goes and comes back.
  shmemx_device_view_unregister(fill_modules);
  shmemx_device_view_register(fill_modules, sizeof(WorldView), kWorldViewVersion);
  return modules().error == 0 ? NVSHMEMX_SUCCESS : NVSHMEMX_ERROR_INTERNAL;
}

inline int remove_module(const void* handle) {
  const std::lock_guard<std::mutex> guard(modules().mutex);
  std::vector<Modules::Entry>& entries = modules().entries;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].handle != handle) continue;
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    return NVSHMEMX_SUCCESS;
  }
  return NVSHMEMX_ERROR_INVALID_VALUE;
}

}  // namespace
}  // namespace compat
}  // namespace railshmem

static inline int nvshmemx_cumodule_init(CUmodule module) {
  CUdeviceptr view = 0;
  size_t nbytes = 0;
  if (cuModuleGetGlobal(&view, &nbytes, module, "railshmem_device_view") != CUDA_SUCCESS) {
    return NVSHMEMX_ERROR_INVALID_VALUE;
  }
  return railshmem::compat::add_module(module, view, nbytes);
}
static inline int nvshmemx_cumodule_finalize(CUmodule module) {
  return railshmem::compat::remove_module(module);
}

#if CUDA_VERSION >= 12000
static inline int nvshmemx_culibrary_init(CUlibrary library) {
  CUdeviceptr view = 0;
  size_t nbytes = 0;
  if (cuLibraryGetGlobal(&view, &nbytes, library, "railshmem_device_view") != CUDA_SUCCESS) {
    return NVSHMEMX_ERROR_INVALID_VALUE;
  }
  return railshmem::compat::add_module(library, view, nbytes);
}
static inline int nvshmemx_culibrary_finalize(CUlibrary library) {
  return railshmem::compat::remove_module(library);
}
#endif

#endif

#endif
