// SPDX-License-Identifier: BSD-3-Clause
// A program whose unit has kernels that use the library, as nvcc would compile it: the unit registers its view of the
// job.
#include <shmem.h>

#include "shmem/device/view.h"

static int fill(const void*, size_t) {
  return 0;
}

int main() {
  shmemx_device_view_register(fill, sizeof(railshmem::WorldView), railshmem::kWorldViewVersion);
  shmem_init();
  long* const word = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  shmem_long_atomic_inc(word, 0);  // the host's calls work
  shmem_barrier_all();
  const bool counted = shmem_my_pe() != 0 || *word == shmem_n_pes();
  shmem_finalize();
  return counted ? 0 : 1;
}
