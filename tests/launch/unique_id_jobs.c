// SPDX-License-Identifier: BSD-3-Clause
//
// Four processes that join several jobs by unique ids, as libraries of one program do: unique_id_jobs RANK FOLDER WAY.
//   after    jobs of pairs, then one of all, then the pairs again, then alone
//   nested   starts within a job: by its id or another one of the same PEs, and of other PEs
// "fine" when each job had the PEs that were asked for.
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "need_job.h"

enum { kNoFile = 5, kProcesses = 4 };

static const char* folder;

/// The id of a job, which the one process that makes it hands to the others through a file.
static shmemx_uniqueid_t id_of(const char* job, int maker) {
  shmemx_uniqueid_t id;
  char path[512], partial[520];
  snprintf(path, sizeof path, "%s/%s", folder, job);
  snprintf(partial, sizeof partial, "%s.partial", path);
  if (maker) {
    need(shmemx_get_uniqueid(&id) == 0, "shmemx_get_uniqueid");
    FILE* file = fopen(partial, "wb");
    if (!file || fwrite(&id, sizeof id, 1, file) != 1 || fclose(file) != 0 || rename(partial, path) != 0)
      _exit(kNoFile);
    return id;
  }
  for (int look = 0; look < 3000; ++look) {
    FILE* file = fopen(path, "rb");
    const size_t got = file ? fread(&id, sizeof id, 1, file) : 0;
    if (file) fclose(file);
    if (got == 1) return id;
    usleep(10000);
  }
  _exit(kNoFile);
}

static int start(shmemx_uniqueid_t id, int pe, int npes) {
  shmemx_init_attr_t attr;
  need(shmemx_set_attr_uniqueid_args(pe, npes, &id, &attr) == 0, "shmemx_set_attr_uniqueid_args");
  return shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID, &attr);
}

static void one_job(shmemx_uniqueid_t id, int pe, int npes, const char* what) {
  need(start(id, pe, npes) == 0, what);
  need_job(pe, npes, what);
  shmem_finalize();
}

static void one_after_the_other(int rank) {
  char pair[16], again[16];
  snprintf(pair, sizeof pair, "pair%d", rank / 2);
  snprintf(again, sizeof again, "again%d", rank / 2);
  const shmemx_uniqueid_t id = id_of(pair, rank % 2 == 0);
  one_job(id, rank % 2, 2, "a job of two");
  one_job(id, rank % 2, 2, "a job of two once more");
  need(start(id, 1 - rank % 2, 2) != 0, "another PE of a job that this process was in");
  one_job(id, rank % 2, 2, "a job of two after a refusal");
  one_job(id_of("all", rank == 0), rank, kProcesses, "a job of all");
  one_job(id_of(again, rank % 2 == 1), 1 - rank % 2, 2, "a job of two in another order");
  shmem_init();
  need_job(0, 1, "no name and no launcher");
  shmem_finalize();
  one_job(id_of("last", rank == 0), rank, kProcesses, "a job of all after one alone");
}

static void nested(int rank) {
  const shmemx_uniqueid_t all = id_of("all", rank == 0);
  char pair[16];
  snprintf(pair, sizeof pair, "pair%d", rank / 2);
  need(start(all, rank, kProcesses) == 0, "a job of all");
  need(start(all, rank, kProcesses) == 0, "the same job within it");
  shmem_init();
  need(start(id_of("other", rank == 0), rank, kProcesses) == 0, "another id of the same PEs within it");
  need(start(id_of(pair, rank % 2 == 0), rank % 2, 2) != 0, "a smaller job within it");
  need(start(all, kProcesses - 1 - rank, kProcesses) != 0, "another order within it");
  need_job(rank, kProcesses, "the job of all after refusals");
  for (int i = 0; i < 4; ++i) shmem_finalize();
  // Each is the same PE of two as before, but of other two.
  char outer[16], crossed[16];
  snprintf(outer, sizeof outer, "outer%d", rank / 2);
  snprintf(crossed, sizeof crossed, "crossed%d", rank == 0 || rank == 3 ? 0 : 1);
  need(start(id_of(outer, rank % 2 == 0), rank % 2, 2) == 0, "a job of two");
  need(start(id_of(crossed, rank % 2 == 0), rank % 2, 2) != 0, "other two within it");
  need_job(rank % 2, 2, "the job of two after a refusal");
  shmem_finalize();
}

int main(int argc, char** argv) {
  if (argc < 4) return kWrong;
  alarm(60);  // a hang must not outlive the test
  const int rank = atoi(argv[1]);
  folder = argv[2];
  if (strcmp(argv[3], "after") == 0) one_after_the_other(rank);
  if (strcmp(argv[3], "nested") == 0) nested(rank);
  printf("fine\n");
  return 0;
}
