// SPDX-License-Identifier: BSD-3-Clause
//
// MPI and the library in one program, through the public API: mpi_orders ORDER. "fine" on every PE when all values were
// right.
//   shmem-last        MPI_Finalize comes first, and PE 0 stays away from shmem_finalize for a while
//   before-first      MPI starts after the library and ends before it
//   halves-then-all   a job of a communicator of every second process, then one of all
//   reversed          a job whose PEs are in another order, and then the launcher's
//   nested            one start within another: the same processes are welcome, others are refused
//   after-mpi         the library starts again when MPI has ended
#include <mpi.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "need_job.h"

enum { kWords = 1 << 18 };

static long words[kWords];

static int start_on(MPI_Comm* comm) {
  shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
  attr.mpi_comm = comm;
  return shmemx_init_attr(SHMEMX_INIT_WITH_MPI_COMM, &attr);
}

static MPI_Comm split(int color, int key) {
  MPI_Comm out;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &out);
  return out;
}

/// What PE 0 puts after MPI's end has arrived when PE 1 returns from shmem_finalize.
static void finalize_last(int me, int npes) {
  long* source = malloc(sizeof words);
  for (int i = 0; i < kWords; ++i) source[i] = i + 1;
  MPI_Finalize();
  need_job(me, npes, "after MPI_Finalize");
  if (me == 0) {
    shmem_long_put_nbi(words, source, kWords, npes - 1);
    usleep(300000);
  }
  shmem_finalize();
  for (int i = 0; me == npes - 1 && i < kWords; ++i)
    if (words[i] != i + 1) _exit(kWrong);
}

static void halves_then_all(int rank, int size) {
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Comm half = split(rank % 2, rank), all = MPI_COMM_WORLD;
    need(start_on(&half) == 0, "a start on a half");
    need_job(rank / 2, size / 2, "half");
    shmem_finalize();
    need(start_on(&all) == 0, "a start on all");
    need_job(rank, size, "all");
    shmem_finalize();
    MPI_Comm_free(&half);
  }
}

static void reversed(int rank, int size) {
  MPI_Comm other = split(0, -rank);
  need(start_on(&other) == 0, "a start in another order");
  need_job(size - 1 - rank, size, "reversed");
  shmem_finalize();
  shmem_init();
  need_job(rank, size, "the launcher's job after another one");
  shmem_finalize();
}

static void nested(int rank, int size) {
  MPI_Comm copy = split(0, rank), half = split(rank % 2, rank), other = split(0, -rank);
  shmem_init();
  need(start_on(&copy) == 0, "a nested start on the same processes");
  need(start_on(&half) != 0, "a nested start on other processes is refused");
  need(start_on(&other) != 0, "a nested start in another order is refused");
  need_job(rank, size, "nested");
  shmem_finalize();
  need_job(rank, size, "after the inner finalize");
  shmem_finalize();
}

int main(int argc, char** argv) {
  const char* order = argc > 1 ? argv[1] : "";
  alarm(60);  // a hang must not outlive the test
  int rank, size;
  const int library_first = strcmp(order, "before-first") == 0;
  if (library_first) shmem_init();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (library_first) finalize_last(rank, size);
  if (strcmp(order, "shmem-last") == 0 || strcmp(order, "after-mpi") == 0) {
    shmem_init();
    finalize_last(rank, size);
  }
  if (strcmp(order, "halves-then-all") == 0) halves_then_all(rank, size);
  if (strcmp(order, "reversed") == 0) reversed(rank, size);
  if (strcmp(order, "nested") == 0) nested(rank, size);
  if (strcmp(order, "after-mpi") == 0) {
    shmem_init();
    need_job(rank, size, "after MPI");
    shmem_finalize();
  }
  int ended = 0;
  MPI_Finalized(&ended);
  if (!ended) MPI_Finalize();
  printf("fine\n");
  return 0;
}
