// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/device.h"

#include <nanobind/nanobind.h>

#include "python/src/errors.h"
#include "python/src/state.h"
#include "python/src/waiting.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

int g_gpu = -1;
unsigned g_gpu_run = 0;  ///< the run of the library that g_gpu belongs to

bool has_device_heap() noexcept {
  shmemx_topology_t here{};
  here.size = sizeof here;
  // A heap in host memory has no links between GPUs, not even to this PE's own.
  return shmemx_topology_get(SHMEM_TEAM_WORLD, &here) == 0 && (here.mapped || here.link_kind != SHMEMX_LINK_NONE);
}

[[noreturn]] void no_device_heap(const char* function) {
  state_error(text(function, ": there is no symmetric heap in the memory of GPUs; call railshmem.init(device=...), or ",
                   "start with SHMEM_HEAP_KIND=device and make a symmetric CUDA tensor first"));
}

}  // namespace

int require_device_heap(const char* function) {
  require_running(function);
  if (g_gpu_run == run_number()) return g_gpu;
  if (!has_device_heap()) no_device_heap(function);
  return -1;
}

int take_gpu(const char* function, int current) {
  require_running(function);
  if (g_gpu_run == run_number()) return g_gpu;
  int status = 0;
  {
    const Waiting waits(function);
    status = shmemx_attach_device();
  }
  if (status != 0)
    state_error(text(function, ": this PE has no GPU for its heap; the library's message on standard error says why"));
  if (!has_device_heap()) no_device_heap(function);
  g_gpu = current;
  g_gpu_run = run_number();
  return g_gpu;
}

}  // namespace railshmem::python
