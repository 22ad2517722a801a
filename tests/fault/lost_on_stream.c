// SPDX-License-Identifier: BSD-3-Clause
//
// PE 1 is killed in the middle of collectives in stream order. The streams of all others wait for it, and their
// programs for the streams; the library must end them and name PE 1. Exit status 3 means that a PE came to an end on
// its own.
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kWords = 1 << 15, kVictim = 1, kUnnoticed = 3 };

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  const size_t npes = (size_t)shmem_n_pes();
  long* source = shmem_calloc(npes * kWords, sizeof(long));
  long* dest = shmem_calloc(npes * kWords, sizeof(long));
  if (!source || !dest) return kUnnoticed;
  for (int round = 0;; ++round) {
    if (strcmp(how, "fcollect") == 0) shmemx_long_fcollect_on_stream(SHMEM_TEAM_WORLD, dest, source, kWords, NULL);
    if (strcmp(how, "reduce") == 0) shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_WORLD, dest, source, kWords, NULL);
    if (strcmp(how, "reducescatter") == 0)
      shmemx_long_sum_reducescatter_on_stream(SHMEM_TEAM_WORLD, dest, source, kWords, NULL);
    if (strcmp(how, "alltoall") == 0) shmemx_long_alltoall_on_stream(SHMEM_TEAM_WORLD, dest, source, kWords, NULL);
    // Long enough into the job that connections and peers are in full use. The stream of PE 1 is somewhere in the call.
    if (shmem_my_pe() == kVictim && round == 20) kill(getpid(), SIGKILL);
    if (round % 4 == 3) (void)shmemx_long_g_on_stream(dest, shmem_my_pe(), NULL);  // waits for the stream
  }
}
