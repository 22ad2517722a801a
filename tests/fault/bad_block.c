// SPDX-License-Identifier: BSD-3-Clause
//
// All PEs give shmem_free or shmem_realloc an address that is no block: `bad_block free|realloc inside|twice|foreign|
// library`. The call must change nothing: the program checks its blocks and what it allocates afterwards.
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 10000, kUnnoticed = 3 };

static long global_word;

/// The address of the mistake; `block` is in use, `freed` was.
static void* wrong_address(const char* which, char* block, char* freed) {
  if (strcmp(which, "inside") == 0) return block + 4000;
  if (strcmp(which, "twice") == 0) return freed;
  if (strcmp(which, "foreign") == 0) return &global_word;
  return block - 4096;  // library: where its own bytes are, before the first block
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  const int me = shmem_my_pe();
  const int next = (me + 1) % shmem_n_pes();
  char* block = shmem_malloc(kBytes);
  char* freed = shmem_malloc(kBytes);
  memset(block, me + 1, kBytes);
  shmem_free(freed);
  void* const wrong = wrong_address(argv[2], block, freed);
  if (strcmp(argv[1], "free") == 0) {
    shmem_free(wrong);
  } else if (shmem_realloc(wrong, 2 * kBytes) != NULL) {
    return kUnnoticed;
  }
  char* later = shmem_malloc(kBytes);
  for (int i = 0; i < kBytes; ++i)
    if (block[i] != me + 1) return kUnnoticed;
  memset(later, 0, kBytes);
  shmem_barrier_all();
  shmem_putmem(later, block, kBytes, next);
  shmem_barrier_all();
  const int before = (me + shmem_n_pes() - 1) % shmem_n_pes();
  if (later[0] != before + 1 || later[kBytes - 1] != before + 1 || block[kBytes - 1] != me + 1) return kUnnoticed;
  shmem_free(later);
  shmem_free(block);
  shmem_finalize();
  printf("PE %d: the heap is whole, block at %p\n", me, (void*)block);
  return 0;
}
