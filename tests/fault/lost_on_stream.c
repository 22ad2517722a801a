// SPDX-License-Identifier: BSD-3-Clause
//
// PE 1 is killed in the middle of collectives in stream order, given to a stream or replayed from a graph. The streams
// of all others wait for it, and their programs for the streams; the library must end them and name PE 1. Exit status
// 3 means that a PE came to an end on its own.
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_call.h"

// With this little device memory reductions fetch their operands in small parts, 20 times before the death.
enum { kWords = 1 << 15, kSummedWords = 1 << 12, kVictim = 1, kUnnoticed = 3 };

static shmemx_stream_t stream;

static void give(const char* how, long* dest, const long* source) {
  if (strcmp(how, "fcollect") == 0) shmemx_long_fcollect_on_stream(SHMEM_TEAM_WORLD, dest, source, kWords, stream);
  if (strcmp(how, "reduce") == 0)
    shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_WORLD, dest, source, kSummedWords, stream);
  if (strcmp(how, "reducescatter") == 0)
    shmemx_long_sum_reducescatter_on_stream(SHMEM_TEAM_WORLD, dest, source, kSummedWords, stream);
  if (strcmp(how, "alltoall") == 0) shmemx_long_alltoall_on_stream(SHMEM_TEAM_WORLD, dest, source, kWords, stream);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  const int replays = argc > 2 && strcmp(argv[2], "replayed") == 0;
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  const size_t npes = (size_t)shmem_n_pes();
  long* source = shmem_calloc(npes * kWords, sizeof(long));
  long* dest = shmem_calloc(npes * kWords, sizeof(long));
  if (!source || !dest) return kUnnoticed;
  void *graph = NULL, *ready = NULL;
  call("cuStreamCreateWithPriority", (uintptr_t)&stream, kNonBlocking, 0);
  if (replays) {
    call("cuStreamBeginCapture_v2", (uintptr_t)stream, kThisThread, 0);
    give(how, dest, source);
    call("cuStreamEndCapture", (uintptr_t)stream, (uintptr_t)&graph, 0);
    call("cuGraphInstantiateWithFlags", (uintptr_t)&ready, (uintptr_t)graph, 0);
  }
  for (int round = 0;; ++round) {
    if (replays)
      call("cuGraphLaunch", (uintptr_t)ready, (uintptr_t)stream, 0);
    else
      give(how, dest, source);
    // Long enough into the job that connections and peers are in full use. The stream of PE 1 is somewhere in the call.
    if (shmem_my_pe() == kVictim && round == 20) kill(getpid(), SIGKILL);
    if (round % 4 == 3) call("cuStreamSynchronize", (uintptr_t)stream, 0, 0);
  }
}
