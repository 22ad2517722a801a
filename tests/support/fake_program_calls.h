// SPDX-License-Identifier: BSD-3-Clause
// What programs call of the fake driver, for tests that are linked with it.
#pragma once

#include "tests/support/program_memory.h"

namespace railshmem::cuda {
extern "C" {
Result cuMemAlloc_v2(Address* address, size_t nbytes);
Result cuMemPoolCreate(Pool* pool, const PoolProperties* properties);
Result cuMemAllocFromPoolAsync(Address* address, size_t nbytes, Pool pool, Stream stream);
Result cuMemAllocAsync(Address* address, size_t nbytes, Stream stream);
Result cuMemFreeAsync(Address address, Stream stream);
Result cuStreamBeginCapture_v2(Stream stream, CaptureMode mode);
Result cuStreamEndCapture(Stream stream, Graph* graph);
Result cuGraphDestroy(Graph graph);
Result cuGraphInstantiateWithFlags(Graph* ready, Graph graph, unsigned long long flags);
Result cuGraphLaunch(Graph ready, Stream stream);
Result cuGraphExecDestroy(Graph ready);
/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3], block[3], shared_nbytes;
  Stream stream;
  const void* attributes;
  unsigned count;
};
Result cuLaunchKernelEx(const LaunchConfig* config, Function function, void** parameters, void** extra);
Result cuLaunchHostFunc(Stream stream, void (*function)(void*), void* argument);
}
}  // namespace railshmem::cuda

namespace railshmem::test {

inline const ProgramCalls& fake_program_calls() {
  static const ProgramCalls calls{cuda::cuMemAlloc_v2, cuda::cuMemPoolCreate, cuda::cuMemAllocFromPoolAsync,
                                  cuda::cuMemAllocAsync, cuda::cuMemFreeAsync};
  return calls;
}

}  // namespace railshmem::test
