// SPDX-License-Identifier: BSD-3-Clause
// Memory of the GPU that collectives on streams use without a copy: registered, or allocated for them.
#include "shmem/coll.h"
#include "src/api/job.h"
#include "src/base/error.h"
#include "src/base/guard.h"

using namespace railshmem;

namespace {

PeerBuffers& gpu_buffers(const char* function) {
  World& world = job::must_run(function);
  if (AttachedGpu* const gpu = world.gpu()) return gpu->peer_buffers();
  throw Error(world.why_no_streams());
}

}  // namespace

extern "C" {

int shmemx_coll_register(void* addr, size_t nbytes) {
  return guard("shmemx_coll_register", [&] { gpu_buffers("shmemx_coll_register").add(addr, nbytes); });
}

int shmemx_coll_deregister(void* addr) {
  return guard("shmemx_coll_deregister", [&] { gpu_buffers("shmemx_coll_deregister").remove(addr); });
}

void* shmemx_mem_alloc(size_t size) {
  void* memory = nullptr;
  guard("shmemx_mem_alloc", [&] { memory = gpu_buffers("shmemx_mem_alloc").allocate(size); });
  return memory;
}

int shmemx_mem_free(void* ptr) {
  return guard("shmemx_mem_free", [&] {
    if (ptr) gpu_buffers("shmemx_mem_free").release(ptr);
  });
}
}
