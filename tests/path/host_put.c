// SPDX-License-Identifier: BSD-3-Clause
// Puts by a host thread of PE 0, for scripts/show_path.sh.
#include <shmem.h>
#include <stdio.h>

enum {
  kPuts = 9,     // the script takes the path of most of them
  kValues = 64,  // 512 bytes: a message of its own, far below any limit from which a put is cut
};

int main(void) {
  shmem_init();
  long* const there = shmem_calloc(kValues, sizeof(long));
  long* const here = shmem_calloc(kValues, sizeof(long));
  for (int i = 0; i < kValues; ++i) here[i] = i + 1;
  shmem_barrier_all();
  for (int put = 0; shmem_my_pe() == 0 && put < kPuts; ++put) {
    shmem_long_put(there, here, kValues, 1);
    shmem_quiet();
  }
  shmem_barrier_all();
  int wrong = 0;
  for (int i = 0; shmem_my_pe() == 1 && i < kValues; ++i) wrong += there[i] != i + 1;
  if (wrong != 0) printf("host_put: %d values wrong\n", wrong);
  shmem_finalize();
  return wrong != 0;
}
