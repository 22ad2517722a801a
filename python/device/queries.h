// SPDX-License-Identifier: BSD-3-Clause
// Who and where: my_pe, n_pes, ptr. Without order: they may be called by any threads.
#pragma once

#include "python/device/define.h"
#include "shmem/device/calls/query.h"

/// This PE; -1 where the library does not run.
RAILSHMEM_EXPORT int railshmem_my_pe() {
  return railshmem::device::this_world().pe;
}
/// How many PEs there are; 0 where the library does not run.
RAILSHMEM_EXPORT int railshmem_n_pes() {
  return railshmem::device::this_world().npes;
}
/// Where the symmetric object of `pe` is mapped here; 0 where it is not.
RAILSHMEM_EXPORT int64_t railshmem_ptr(int64_t dest, int64_t pe) {
  using namespace railshmem;
  return reinterpret_cast<int64_t>(device::mapped_object(bitcode::at<void>(dest), bitcode::pe_of(pe)));
}
