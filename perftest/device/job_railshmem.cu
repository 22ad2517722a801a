// SPDX-License-Identifier: BSD-3-Clause
#include <shmem.h>

#include "perftest/device/check.h"
#include "perftest/device/job.h"

namespace railshmem::perf::gpu::job {

void start(int device) {
  shmem_init();
  CUDA_CHECK(cudaSetDevice(device));  // the device heap is made by the first allocation, on this device
}
void stop() {
  shmem_finalize();
}
int pe() {
  return shmem_my_pe();
}
int npes() {
  return shmem_n_pes();
}
void barrier() {
  shmem_barrier_all();
}
void* allocate(size_t nbytes) {
  return shmem_malloc(nbytes);
}
void release(void* block) {
  shmem_free(block);
}
void* mapped(const void* address, int pe) {
  return shmem_ptr(address, pe);
}
const char* way(bool mapped) {
  return mapped ? "direct" : "proxy";
}
void get(void* dest, const void* source, size_t nbytes, int pe) {
  shmem_getmem(dest, source, nbytes, pe);
}
std::string library() {
  return std::string(SHMEM_VENDOR_STRING);
}
const char* heap_variable() {
  return "SHMEM_SYMMETRIC_SIZE";
}

}  // namespace railshmem::perf::gpu::job
