// SPDX-License-Identifier: BSD-3-Clause
//
// Compile-only: the headers in host code of a CUDA source, handles in device code.
#include <mpp/shmem.h>
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>

__global__ void use_handle(shmem_team_t team, int* same) {
  *same = team == SHMEM_TEAM_WORLD;
}

int use_host(int* dest) {
  shmem_p(dest, 1, shmem_my_pe());
  shmem_sum_reduce(SHMEM_TEAM_WORLD, dest, dest, 1);
  shmemx_int_sum_reducescatter(SHMEM_TEAM_WORLD, dest, dest, 1);
  shmem_barrier_all();
  return shmem_atomic_fetch(dest, 0);
}
