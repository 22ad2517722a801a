// SPDX-License-Identifier: BSD-3-Clause
// library.h for NCCL. All-to-all is grouped sends and receives, as NCCL's users write it; in window memory
// ncclAlltoAll, where NCCL has it, because only that function makes use of windows.
#include "perftest/device/coll/library.h"

#include <stdexcept>

#include "perftest/device/check.h"
#include "perftest/device/job.h"
#include "perftest/device/job_nccl.h"

namespace railshmem::perf::gpu::coll {
namespace {

/// In the order of Dtype.
constexpr ncclDataType_t kTypes[] = {ncclInt8, ncclUint8,    ncclInt32, ncclUint32, ncclInt64,      ncclUint64,
                                     ncclHalf, ncclBfloat16, ncclFloat, ncclDouble, ncclFloat8e4m3, ncclFloat8e5m2};
static_assert(std::size(kTypes) == kDtypes.size());

/// Memory that is a symmetric window; nothing where NCCL starts none.
Held hold_window(size_t nbytes) {
  Held held;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
  constexpr size_t kAlign = NCCL_WIN_REQUIRED_ALIGNMENT;
  const size_t whole = (nbytes + kAlign - 1) / kAlign * kAlign;
  NCCL_CHECK(ncclMemAlloc(&held.at, whole));
  ncclWindow_t window = nullptr;
  const ncclResult_t result =
      ncclCommWindowRegister(job::communicator(), held.at, whole, &window, NCCL_WIN_COLL_SYMMETRIC);
  if (result == ncclSuccess && window != nullptr) {
    held.handle = window;
    return held;
  }
  NCCL_CHECK(ncclMemFree(held.at));
  held.at = nullptr;
  held.missing = result == ncclSuccess
                     ? "ncclCommWindowRegister gave no window; NCCL_DEBUG=INFO says why"
                     : std::string("ncclCommWindowRegister: ") + ncclGetLastError(job::communicator());
#else
  static_cast<void>(nbytes);
  held.missing = "this NCCL is older than 2.27 and has no windows";
#endif
  return held;
}

void all_to_all(const Call& call, ncclDataType_t type, cudaStream_t stream) {
  if (call.source == call.dest) throw std::runtime_error("NCCL has no all-to-all in place; leave --in-place out");
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  if (call.memory == Memory::heap)
    return NCCL_CHECK(ncclAlltoAll(call.source, call.dest, call.nelems, type, job::communicator(), stream));
#endif
  const size_t block = call.nelems * facts_of(call.dtype).nbytes;
  NCCL_CHECK(ncclGroupStart());
  for (int pe = 0; pe < job::npes(); ++pe) {
    const size_t at = static_cast<size_t>(pe) * block;
    NCCL_CHECK(
        ncclSend(static_cast<const char*>(call.source) + at, call.nelems, type, pe, job::communicator(), stream));
    NCCL_CHECK(ncclRecv(static_cast<char*>(call.dest) + at, call.nelems, type, pe, job::communicator(), stream));
  }
  NCCL_CHECK(ncclGroupEnd());
}

}  // namespace

Held hold(Memory memory, size_t nbytes) {
  if (memory == Memory::heap) return hold_window(nbytes);
  Held held;
  CUDA_CHECK(cudaMalloc(&held.at, nbytes));
  if (memory == Memory::registered) NCCL_CHECK(ncclCommRegister(job::communicator(), held.at, nbytes, &held.handle));
  return held;
}

void let_go(Memory memory, const Held& held) {
  if (held.at == nullptr) return;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
  if (memory == Memory::heap) {
    ncclCommWindowDeregister(job::communicator(), static_cast<ncclWindow_t>(held.handle));
    ncclMemFree(held.at);
    return;
  }
#endif
  if (memory == Memory::registered) ncclCommDeregister(job::communicator(), held.handle);
  cudaFree(held.at);
}

void enqueue(const Call& call, cudaStream_t stream) {
  if (call.blocks != 0) throw std::runtime_error("--ctas does not limit NCCL; set NCCL_MAX_CTAS");
  const ncclDataType_t type = kTypes[static_cast<size_t>(call.dtype)];
  const ncclComm_t all = job::communicator();
  switch (call.kind) {
    case Kind::allgather:
      return NCCL_CHECK(ncclAllGather(call.source, call.dest, call.nelems, type, all, stream));
    case Kind::reducescatter:
      return NCCL_CHECK(ncclReduceScatter(call.source, call.dest, call.nelems, type, ncclSum, all, stream));
    case Kind::allreduce:
      return NCCL_CHECK(ncclAllReduce(call.source, call.dest, call.nelems, type, ncclSum, all, stream));
    case Kind::alltoall:
      return all_to_all(call, type, stream);
  }
}

}  // namespace railshmem::perf::gpu::coll
