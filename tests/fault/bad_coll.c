// SPDX-License-Identifier: BSD-3-Clause
//
// One mistake with a collective whose type comes at run time, named by the first argument, made by PE 1. The library
// must refuse the call with a message; then the program ends the job. A mistake that goes unnoticed ends with status 0,
// which no test accepts.
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRefused = 5, kWords = 1000 };

static float* heap;
static float* outside;  // of the host
static uint64_t* counters;
static shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;

static int give(void) {
  return shmemx_coll_on_stream(&coll, NULL);
}
static int no_size(void) {
  coll.size = 0;
  return give();
}
static int collective(void) {
  coll.collective = 99;
  return give();
}
static int team(void) {
  coll.team = SHMEM_TEAM_INVALID;
  return give();
}
static int datatype(void) {
  coll.datatype = 99;
  return give();
}
static int op(void) {
  coll.op = 99;
  return give();
}
static int bits_of_float(void) {
  coll.op = SHMEMX_OP_AND;
  return give();
}
static int max_of_complex(void) {
  coll.datatype = SHMEMX_DATATYPE_COMPLEX_FLOAT;
  coll.op = SHMEMX_OP_MAX;
  return give();
}
static int average_of_int(void) {
  coll.datatype = SHMEMX_DATATYPE_INT32;
  coll.op = SHMEMX_OP_AVG;
  return give();
}
static int root(void) {
  coll.collective = SHMEMX_COLL_BROADCAST;
  coll.root = 2;
  return give();
}
static int max_blocks(void) {
  coll.max_blocks = -1;
  return give();
}
static int flags(void) {
  coll.flags = SHMEMX_COLL_SPARE_SMS | 2;
  return give();
}
static int nelems(void) {
  coll.nelems = SIZE_MAX / 2;
  return give();
}
static int source_of_host(void) {
  coll.source = outside;
  return give();
}
static int no_dest(void) {
  coll.dest = NULL;
  return give();
}
static int overlap(void) {
  coll.dest = heap + 1;
  return give();
}
static int list(void) {
  const void* sources[2] = {heap, heap};
  coll.sources = sources;
  return give();
}
static int counts(void) {
  coll.collective = SHMEMX_COLL_ALLTOALLV;
  return give();
}
static int gather_pieces(size_t piece, float* source, uint64_t* arrived) {
  return shmemx_fcollectmem_pieces_on_stream(SHMEM_TEAM_WORLD, heap + 3 * kWords, source, kWords, piece, arrived, NULL);
}
static int piece(void) {
  return gather_pieces(0, heap, counters);
}
static int counters_null(void) {
  return gather_pieces(100, heap, NULL);
}
static int pieces_elsewhere(void) {
  return shmemx_fcollectmem_pieces_on_stream(SHMEM_TEAM_WORLD, (char*)heap + ((size_t)1 << 40), heap, kWords, 100,
                                             counters, NULL);
}
static int ready_elsewhere(void) {
  coll.collective = SHMEMX_COLL_REDUCESCATTER;
  return shmemx_reducescatter_pieces_on_stream(&coll, 100, (uint64_t*)outside, counters, NULL);
}
static int differs(void) {
  coll.nelems = 2 * kWords;
  return give();
}
static int lonely(void) {
  give();
  sleep(20);
  return 0;
}

static const struct {
  const char* name;
  int (*make)(void);
} kMistakes[] = {
    {"no_size", no_size},
    {"collective", collective},
    {"team", team},
    {"datatype", datatype},
    {"op", op},
    {"bits_of_float", bits_of_float},
    {"max_of_complex", max_of_complex},
    {"average_of_int", average_of_int},
    {"root", root},
    {"max_blocks", max_blocks},
    {"flags", flags},
    {"nelems", nelems},
    {"source_of_host", source_of_host},
    {"no_dest", no_dest},
    {"overlap", overlap},
    {"list", list},
    {"counts", counts},
    {"piece", piece},
    {"counters", counters_null},
    {"pieces_elsewhere", pieces_elsewhere},
    {"ready_elsewhere", ready_elsewhere},
    {"differs", differs},
    {"lonely", lonely},
};

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  heap = shmem_calloc(8 * kWords, sizeof(float));
  counters = shmem_calloc(kWords, sizeof(uint64_t));
  outside = calloc(8 * kWords, sizeof(float));
  coll.collective = SHMEMX_COLL_ALLREDUCE;
  coll.datatype = SHMEMX_DATATYPE_FLOAT;
  coll.nelems = kWords;
  coll.source = heap;
  coll.dest = heap + 4 * kWords;
  // The members of a team meet on the host at its first collective.
  if (give() != 0) return 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    if (strcmp(name, "differs") == 0) give();
    sleep(20);
    return 0;
  }
  for (size_t i = 0; i < sizeof kMistakes / sizeof *kMistakes; ++i) {
    if (strcmp(kMistakes[i].name, name) != 0) continue;
    if (kMistakes[i].make() != 0) shmem_global_exit(kRefused);
    printf("%s went unnoticed\n", name);
    exit(0);
  }
  return 0;
}
