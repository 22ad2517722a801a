// SPDX-License-Identifier: BSD-3-Clause
//
// For programs that join one job after the other: whether the job is the one that was asked for.
#pragma once

#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

enum { kWrong = 4 };

static void need(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "wrong: %s\n", what);
  _exit(kWrong);
}

/// The library's job has `npes` PEs, this one is `pe`, and puts arrive.
static void need_job(int pe, int npes, const char* what) {
  static long word;
  if (shmem_my_pe() != pe || shmem_n_pes() != npes)
    fprintf(stderr, "this is PE %d of %d\n", shmem_my_pe(), shmem_n_pes());
  need(shmem_my_pe() == pe && shmem_n_pes() == npes, what);
  word = -1;
  shmem_barrier_all();
  shmem_long_p(&word, pe, (pe + 1) % npes);
  shmem_barrier_all();
  need(word == (pe + npes - 1) % npes, what);
  shmem_barrier_all();
}
