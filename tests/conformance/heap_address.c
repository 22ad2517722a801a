// SPDX-License-Identifier: BSD-3-Clause
//
// Programs that pass addresses of heap objects between PEs: the heap begins at one address on all PEs. Lists that
// reach over all PEs, addresses that peers sent as targets, and the pointers and objects that are not part of the heap.
//
// heap_address taken: PE 1 has other memory wherever the library may want its heap. The addresses then differ, and
// everything else works.
#include <shmem.h>
#include <stdint.h>
#include <sys/mman.h>

#include "check.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { kWords = 1000, kRounds = 3 };

struct node {
  struct node* next;  ///< on PE `pe`, by its address there
  int pe;
  long value;
};

static int me, npes;
static long global_word;
static uint64_t addresses[512], mine[1];

/// Fills every gap of this process's addresses from 1 GiB up to where programs and their libraries begin.
static void take_addresses(void) {
  const uintptr_t end = 0x500000000000;
  uintptr_t at = (uintptr_t)1 << 30;
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL, "/proc/self/maps cannot be read by process %d", getpid());
  char line[512];
  while (at < end) {
    unsigned long from = end, to = end;
    if (fgets(line, sizeof line, maps) && sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
    if (from > end) from = end;
    if (from > at)
      CHECK(mmap((void*)at, from - at, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
                 0) == (void*)at,
            "cannot take the addresses from %#lx to %#lx", (unsigned long)at, from);
    if (to > at) at = to;
  }
  fclose(maps);
}

/// Every PE's address of `object`; all are equal.
static void check_one_address(const void* object) {
  mine[0] = (uint64_t)(uintptr_t)object;
  shmem_uint64_fcollect(SHMEM_TEAM_WORLD, addresses, mine, 1);
  for (int pe = 0; pe < npes; ++pe)
    CHECK(addresses[pe] == mine[0], "the heap object is at %p here and at %p on PE %d", object,
          (void*)(uintptr_t)addresses[pe], pe);
}

/// The nodes of all PEs in one list, made of addresses that their owners wrote; each PE walks along it.
static void check_list(void) {
  check_step("list");
  struct node* node = shmem_malloc(sizeof *node);
  const int next = (me + 1) % npes;
  *node = (struct node){NULL, next, 100 + me};
  shmem_barrier_all();
  shmem_putmem(&node->next, &node, sizeof node, (me + npes - 1) % npes);  // my address, for the PE before me
  shmem_barrier_all();
  struct node here = *node;
  for (int step = 1; step <= npes; ++step) {
    shmem_getmem(&here, here.next, sizeof here, here.pe);
    const long there = 100 + (me + step) % npes;
    CHECK_EQ(here.value, there);
  }
  shmem_barrier_all();
  shmem_free(node);
}

/// Targets of puts and atomics that another PE names.
static void check_targets(void) {
  check_step("targets");
  long* words = shmem_calloc(kWords, sizeof(long));
  long** named = shmem_malloc(sizeof *named);
  const int next = (me + 1) % npes;
  const int before = (me + npes - 1) % npes;
  long* wanted = words + (me * 37) % kWords;  // where the PE before me shall write
  shmem_barrier_all();
  shmem_putmem(named, &wanted, sizeof wanted, before);
  shmem_barrier_all();
  shmem_long_atomic_add(*named, 1000 + me, next);
  shmem_barrier_all();
  CHECK_EQ(*wanted, 1000 + before);
  shmem_barrier_all();
  shmem_free(named);
  shmem_free(words);
}

/// shmem_ptr's pointers are this PE's own, and lead to the other PE's object; globals are where they are.
static void check_pointers(void) {
  check_step("pointers");
  long* words = shmem_malloc(kWords * sizeof(long));
  for (int i = 0; i < kWords; ++i) words[i] = 5000 * me + i;
  global_word = 70 + me;
  shmem_barrier_all();
  for (int pe = 0; pe < npes; ++pe) {
    const long* there = shmem_ptr(words, pe);
    if (there) CHECK_EQ(there[kWords - 1], 5000 * pe + kWords - 1);
    if (pe == me) CHECK(there == words, "shmem_ptr of the own PE is %p, not %p", (const void*)there, (void*)words);
    const long* global = shmem_ptr(&global_word, pe);
    if (global) CHECK_EQ(*global, 70 + pe);
    CHECK_EQ(shmem_long_g(&global_word, pe), 70 + pe);
    CHECK_EQ(shmem_long_g(words + 1, pe), 5000 * pe + 1);
  }
  shmem_barrier_all();
  shmem_free(words);
}

static int main_taken(void) {
  const char* pe = getenv("RAILSHMEM_LAUNCHER_PE");  // before the start nothing else says it
  check_prepare("heap_address");
  if (pe && strcmp(pe, "1") == 0) take_addresses();
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  check_pointers();
  return check_end();
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "taken") == 0) return main_taken();
  void* first = NULL;
  for (int round = 0; round < kRounds; ++round) {
    if (round == 0)
      check_begin("heap_address");
    else
      shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    check_step("address of session %d", round);
    long* block = shmem_malloc(kWords * sizeof(long));
    check_one_address(block);
    if (round == 0) first = block;
    CHECK(block == first, "session %d has its heap at %p, not at %p", round, (void*)block, first);
    check_list();
    check_targets();
    check_pointers();
    block = shmem_realloc(block, 100 * kWords * sizeof(long));
    check_one_address(block);
    shmem_free(block);
    if (round < kRounds - 1) shmem_finalize();
  }
  return check_end();
}
