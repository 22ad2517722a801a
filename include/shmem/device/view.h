// SPDX-License-Identifier: BSD-3-Clause
// The view of the job that kernels of one compiled unit read: constant memory of that unit, filled by the library.
//
// Each CUDA unit that includes shmem.h has a copy of its own and tells the library how to fill it before main (or when
// its shared library is loaded), so no relocatable device code is needed. Modules that the program loads itself
// (cuModuleLoad, NVRTC) have the variable under the name railshmem_device_view.
#ifndef SHMEM_DEVICE_VIEW_H
#define SHMEM_DEVICE_VIEW_H

#include <stddef.h>

#include "shmem/api.h"
#include "shmem/detail/world.h"

#if !defined(__CUDACC_RTC__)
RAILSHMEM_BEGIN_C

/// Adds a unit: `fill` copies a view to the current device, and returns 0 or the error of the CUDA runtime. nbytes and
/// version are those of the view that the unit was compiled with. Any thread, at any time; called by this header only.
RAILSHMEM_API void shmemx_device_view_register(int (*fill)(const void* view, size_t nbytes), size_t nbytes,
                                               unsigned version);

/// Takes the unit away again: its shared library is about to go.
RAILSHMEM_API void shmemx_device_view_unregister(int (*fill)(const void* view, size_t nbytes));

RAILSHMEM_END_C
#endif

#if defined(__CUDACC__)

#if defined(__CUDACC_RDC__)
static __constant__ railshmem::WorldView railshmem_device_view;  // units are linked together: each has its own
#else
extern "C" {
__constant__ railshmem::WorldView railshmem_device_view;
}
#endif

#if !defined(__CUDACC_RTC__)
namespace railshmem {
namespace device {
namespace {

int fill_view(const void* view, size_t nbytes) {
  return static_cast<int>(cudaMemcpyToSymbol(railshmem_device_view, view, nbytes));
}

struct ViewRegistration {
  ViewRegistration() { shmemx_device_view_register(fill_view, sizeof(WorldView), kWorldViewVersion); }
  ~ViewRegistration() { shmemx_device_view_unregister(fill_view); }
} const view_registration;

}  // namespace
}  // namespace device
}  // namespace railshmem
#endif

#endif

namespace railshmem {
#if defined(RAILSHMEM_EMULATION)
namespace emulation {
const WorldView& world();
bool in_kernel();
}  // namespace emulation
#endif
namespace device {

/// The job, in code of kernels.
#if defined(__CUDACC__)
static __device__ __forceinline__ const WorldView& this_world() {
  return railshmem_device_view;
}
#elif defined(RAILSHMEM_EMULATION)
inline const WorldView& this_world() {
  return emulation::world();
}
#endif

}  // namespace device
}  // namespace railshmem

#endif
