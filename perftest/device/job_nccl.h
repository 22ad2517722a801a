// SPDX-License-Identifier: BSD-3-Clause
// What job_nccl.cu has beyond job.h: the communicator, and NCCL's errors as exceptions.
#pragma once

#include <nccl.h>

#include <stdexcept>
#include <string>

namespace railshmem::perf::gpu::job {

/// Of all PEs; from start() to stop().
ncclComm_t communicator();

inline void check_nccl(ncclResult_t result, const char* call) {
  if (result != ncclSuccess)
    throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(result) + "; " +
                             ncclGetLastError(communicator()));
}

}  // namespace railshmem::perf::gpu::job

#define NCCL_CHECK(call) ::railshmem::perf::gpu::job::check_nccl(call, #call)
