// SPDX-License-Identifier: BSD-3-Clause
// Puts by a kernel of PE 0, for scripts/show_path.sh. The kernel is a host thread; rings, proxy and rails are real.
#include "tests/gpu/multi_gpu/gpu_pes.h"

using namespace railshmem::multi;

namespace {

constexpr int kPuts = 9;     // the script takes the path of most of them
constexpr int kValues = 64;  // 512 bytes: more than a command holds, far below any limit from which a put is cut

__global__ void fill(long* values, long first) {
  for (int i = 0; i < kValues; ++i) values[i] = first + i;
}
__global__ void put(long* there, const long* here) {
  for (int put = 0; put < kPuts; ++put) {
    shmem_long_put(there, here, kValues, 1);
    shmem_quiet();
  }
}
__global__ void check(Findings* findings, const long* values, long first) {
  for (int i = 0; i < kValues; ++i) EXPECT_EQ(values[i], first + i);
}

}  // namespace

int main() {
  Job job;
  auto* const there = static_cast<long*>(shmem_calloc(kValues, sizeof(long)));
  auto* const here = static_cast<long*>(shmem_calloc(kValues, sizeof(long)));
  fill<<<1, 1>>>(here, 1);
  job.run("puts", [&](Findings*) {
    if (job.me == 0) put<<<1, 1>>>(there, here);
  });
  job.run("values", [&](Findings* findings) {
    if (job.me == 1) check<<<1, 1>>>(findings, there, 1);
  });
  shmem_free(here);
  shmem_free(there);
  return job.end();
}
