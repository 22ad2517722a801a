// SPDX-License-Identifier: BSD-3-Clause
// NVSHMEM starts from a unique id in the file that SHMEM_PERF_RENDEZVOUS names (a new name for each job), so that any
// launcher will do and no MPI is linked. Without the variable it starts as NVSHMEM_BOOTSTRAP says.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdlib>
#include <stdexcept>

#include "perftest/device/check.h"
#include "perftest/device/job.h"
#include "perftest/device/rendezvous.h"

namespace railshmem::perf::gpu::job {
namespace {

void start_from_file(const std::string& path) {
  const Launched process = numbered();
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (*process.rank == 0 && nvshmemx_get_uniqueid(&id) != 0) throw std::runtime_error("nvshmemx_get_uniqueid failed");
  share_id(path, *process.rank, id);
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  if (nvshmemx_set_attr_uniqueid_args(*process.rank, *process.size, &id, &attributes) != 0 ||
      nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0)
    throw std::runtime_error("nvshmemx_init_attr failed");
}

}  // namespace

void start(int device) {
  CUDA_CHECK(cudaSetDevice(device));
  CUDA_CHECK(cudaFree(nullptr));  // the device's context, which the start looks for
  const char* const path = std::getenv("SHMEM_PERF_RENDEZVOUS");
  if (path != nullptr) return start_from_file(path);
  nvshmem_init();
}
void stop() {
  nvshmem_finalize();
}
int pe() {
  return nvshmem_my_pe();
}
int npes() {
  return nvshmem_n_pes();
}
void barrier() {
  nvshmem_barrier_all();
}
void* allocate(size_t nbytes) {
  return nvshmem_malloc(nbytes);
}
void release(void* block) {
  nvshmem_free(block);
}
void* mapped(const void* address, int pe) {
  return nvshmem_ptr(address, pe);
}
const char* way(bool mapped) {
  return mapped ? "direct" : "proxy";
}
void get(void* dest, const void* source, size_t nbytes, int pe) {
  nvshmem_getmem(dest, source, nbytes, pe);
}
std::string library() {
  return std::string(NVSHMEM_VENDOR_STRING);
}
const char* heap_variable() {
  return "NVSHMEM_SYMMETRIC_SIZE";
}

}  // namespace railshmem::perf::gpu::job
