// SPDX-License-Identifier: BSD-3-Clause
#include <shmem.h>

int main() {
  shmem_init();
  static int word = 0;
  const int me = shmem_my_pe(), npes = shmem_n_pes();
  shmem_p(&word, me + 1, (me + 1) % npes);
  shmem_barrier_all();
  const bool right = word == (me + npes - 1) % npes + 1;
  shmem_finalize();
  return right ? 0 : 1;
}
