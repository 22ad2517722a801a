// SPDX-License-Identifier: BSD-3-Clause
// library.h for RailSHMEM.
#include <shmem.h>
#include <shmemx.h>

#include "perftest/device/coll/library.h"
#include "perftest/device/context.cuh"
#include "shmem/coll.h"

namespace railshmem::perf::gpu::coll {
namespace {

/// In the order of Kind.
constexpr int kKinds[] = {SHMEMX_COLL_ALLGATHER, SHMEMX_COLL_REDUCESCATTER, SHMEMX_COLL_ALLREDUCE,
                          SHMEMX_COLL_ALLTOALL};
/// In the order of Dtype.
constexpr int kTypes[] = {SHMEMX_DATATYPE_INT8,   SHMEMX_DATATYPE_UINT8,       SHMEMX_DATATYPE_INT32,
                          SHMEMX_DATATYPE_UINT32, SHMEMX_DATATYPE_INT64,       SHMEMX_DATATYPE_UINT64,
                          SHMEMX_DATATYPE_HALF,   SHMEMX_DATATYPE_BFLOAT16,    SHMEMX_DATATYPE_FLOAT,
                          SHMEMX_DATATYPE_DOUBLE, SHMEMX_DATATYPE_FLOAT8_E4M3, SHMEMX_DATATYPE_FLOAT8_E5M2};
static_assert(std::size(kTypes) == kDtypes.size());

void* allocate(size_t nbytes) {
  void* at = nullptr;
  CUDA_CHECK(cudaMalloc(&at, nbytes));
  return at;
}

}  // namespace

Held hold(Memory memory, size_t nbytes) {
  Held held;
  held.at = memory == Memory::heap ? job::allocate(nbytes) : allocate(nbytes);
  if (held.at == nullptr)
    throw std::runtime_error("no " + std::to_string(nbytes) + " bytes of symmetric GPU memory; set " +
                             job::heap_variable() + " higher or use smaller messages");
  if (memory == Memory::registered && shmemx_coll_register(held.at, nbytes) != 0) {
    CUDA_CHECK(cudaFree(held.at));
    held = {nullptr, nullptr, "shmemx_coll_register refused; its message says why"};
  }
  return held;
}

void let_go(Memory memory, const Held& held) {
  if (held.at == nullptr) return;
  if (memory == Memory::heap) return job::release(held.at);
  if (memory == Memory::registered) shmemx_coll_deregister(held.at);
  cudaFree(held.at);
}

void enqueue(const Call& call, cudaStream_t stream) {
  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
  coll.collective = kKinds[static_cast<size_t>(call.kind)];
  coll.datatype = kTypes[static_cast<size_t>(call.dtype)];
  coll.op = SHMEMX_OP_SUM;
  coll.max_blocks = static_cast<int>(call.blocks);
  coll.nelems = call.nelems;
  coll.source = call.source;
  coll.dest = call.dest;
  if (shmemx_coll_on_stream(&coll, stream) != 0)
    throw std::runtime_error("shmemx_coll_on_stream refused the call; its message says why");
}

}  // namespace railshmem::perf::gpu::coll
