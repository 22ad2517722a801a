// SPDX-License-Identifier: BSD-3-Clause
//
// PE 1 is killed in the middle of collectives in stream order, given to a stream or replayed from a graph. The streams
// of all others wait for it, and their programs for the streams; the library must end them and name PE 1. Exit status
// 3 means that a PE came to an end on its own.
#include <dlfcn.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// With this little device memory reductions fetch their operands in small parts, 20 times before the death.
enum { kWords = 1 << 15, kSummedWords = 1 << 12, kVictim = 1, kUnnoticed = 3, kThisThread = 1, kNonBlocking = 1 };

static void* driver;
static shmemx_stream_t stream;

/// A function of the CUDA driver whose arguments are all as wide as a pointer.
static void call(const char* symbol, uintptr_t a, uintptr_t b, uintptr_t c) {
  int (*function)(uintptr_t, uintptr_t, uintptr_t) = NULL;
  *(void**)&function = dlsym(driver, symbol);
  if (function == NULL || function(a, b, c) != 0) exit(kUnnoticed);
}

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
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!source || !dest || !driver) return kUnnoticed;
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
