// SPDX-License-Identifier: BSD-3-Clause
// NVSHMEM starts from a unique id in the file that SHMEM_PERF_RENDEZVOUS names (a new name for each job), so that any
// launcher will do and no MPI is linked. Without the variable it starts as NVSHMEM_BOOTSTRAP says.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "perftest/device/check.h"
#include "perftest/device/job.h"
#include "perftest/harness/launcher.h"

namespace railshmem::perf::gpu::job {
namespace {

constexpr std::chrono::seconds kPatience{60};

void publish(const std::string& path, const nvshmemx_uniqueid_t& id) {
  const std::string draft = path + ".draft";
  std::ofstream file(draft, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&id), sizeof id);
  file.close();
  // Renamed, so that nobody reads half of it.
  if (!file || std::rename(draft.c_str(), path.c_str()) != 0)
    throw std::runtime_error("cannot write SHMEM_PERF_RENDEZVOUS " + path);
}

nvshmemx_uniqueid_t await(const std::string& path) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    std::ifstream file(path, std::ios::binary);
    if (file.read(reinterpret_cast<char*>(&id), sizeof id)) return id;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw std::runtime_error("no unique id in SHMEM_PERF_RENDEZVOUS " + path + " after 60 s; did rank 0 start?");
}

void start_from_file(const std::string& path) {
  const Launched process = launched();
  if (!process.rank || !process.size)
    throw std::runtime_error("SHMEM_PERF_RENDEZVOUS needs a launcher that numbers the processes, as mpirun does");
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (*process.rank == 0) {
    if (nvshmemx_get_uniqueid(&id) != 0) throw std::runtime_error("nvshmemx_get_uniqueid failed");
    publish(path, id);
  } else {
    id = await(path);
  }
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
