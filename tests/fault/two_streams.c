// SPDX-License-Identifier: BSD-3-Clause
//
// Two streams of PE 0 use one team, whose members are on two nodes. two_streams at_once: no stream waits for the other,
// which must end the job with a message. PE 1 comes when PE 0 has given both calls, so that both are under way at once.
// two_streams in_turn: each stream waits for the other by an event, and all is well.
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "driver_call.h"

enum { kWords = 100, kRounds = 50 };

static shmemx_stream_t streams[2];

static void gather(long* dest, const long* source, int stream) {
  shmemx_long_fcollect_on_stream(SHMEM_TEAM_WORLD, dest, source, kWords, streams[stream]);
}

static void wait_for_both(void) {
  for (int i = 0; i < 2; ++i) call("cuStreamSynchronize", (uintptr_t)streams[i], 0, 0);
}

static void at_once(long* dest, const long* source, uint64_t* go) {
  if (shmem_my_pe() == 1) shmem_uint64_wait_until(go, SHMEM_CMP_EQ, 1);
  gather(dest, source, 0);
  gather(dest, source, 1);
  if (shmem_my_pe() == 0) shmem_uint64_p(go, 1, 1);
  shmem_quiet();
  wait_for_both();
}

static void in_turn(long* dest, const long* source) {
  void* event = NULL;
  call("cuEventCreate", (uintptr_t)&event, 2, 0);  // without timing
  for (int round = 0; round < kRounds; ++round) {
    gather(dest, source, round % 2);
    call("cuEventRecord", (uintptr_t)event, (uintptr_t)streams[round % 2], 0);
    call("cuStreamWaitEvent", (uintptr_t)streams[1 - round % 2], (uintptr_t)event, 0);
  }
  wait_for_both();
  call("cuEventDestroy_v2", (uintptr_t)event, 0, 0);
}

int main(int argc, char** argv) {
  const int together = argc < 2 || strcmp(argv[1], "at_once") == 0;
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  long* source = shmem_calloc(kWords, sizeof(long));
  long* dest = shmem_calloc(kWords * (size_t)shmem_n_pes(), sizeof(long));
  uint64_t* go = shmemx_malloc_host(sizeof *go);
  if (!source || !dest || !go) return kRefused;
  *go = 0;
  shmem_barrier_all();
  for (int i = 0; i < 2; ++i) call("cuStreamCreateWithPriority", (uintptr_t)&streams[i], kNonBlocking, 0);
  if (together) {
    at_once(dest, source, go);
    return kRefused;
  }
  in_turn(dest, source);
  shmem_finalize();
  return 0;
}
