// SPDX-License-Identifier: BSD-3-Clause
//
// PE 1 is killed in the middle of transfers; everyone else keeps doing what the first argument says and must be ended
// by the library, which names PE 1. Exit status 3 means that a PE came to an end on its own.
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 1 << 16, kVictim = 1, kUnnoticed = 3 };

static void leave(int signal) {
  (void)signal;
  exit(0);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  const int me = shmem_my_pe();
  const int npes = shmem_n_pes();
  unsigned char* block = shmem_malloc(kBytes);
  long* word = shmem_calloc(2, sizeof(long));
  unsigned char* mine = calloc(1, kBytes);
  if (!block || !word || !mine) return kUnnoticed;
  shmem_barrier_all();
  for (long round = 1;; ++round) {
    // Long enough into the job that connections, queues and peers are in full use.
    if (me == kVictim && round == 200) kill(getpid(), SIGKILL);
    for (int pe = 0; pe < npes; ++pe) {
      shmem_putmem_nbi(block, mine, kBytes, pe);
      shmem_long_atomic_inc(word, pe);
    }
    if (strcmp(how, "quiet") == 0) shmem_quiet();
    if (strcmp(how, "get") == 0) shmem_getmem(mine, block, kBytes, (me + 1) % npes);
    if (strcmp(how, "amo") == 0) shmem_long_atomic_fetch_add(word, 1, kVictim);
    // The others are elsewhere when PE 1 dies, so that the launcher has to end them.
    if (strncmp(how, "compute", 7) == 0 && me != kVictim && round == 100) {
      if (strcmp(how, "compute_exit") == 0) signal(SIGTERM, leave);
      for (;;) pause();
    }
    if (strcmp(how, "barrier") == 0) shmem_barrier_all();
    // Only PE 1 ever raises this word, so all others wait for it when it dies.
    if (strcmp(how, "wait") == 0) {
      if (me == kVictim)
        for (int pe = 0; pe < npes; ++pe) shmem_long_p(word + 1, round, pe);
      shmem_long_wait_until(word + 1, SHMEM_CMP_GE, round);
      shmem_quiet();
    }
  }
}
