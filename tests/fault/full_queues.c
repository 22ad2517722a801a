// SPDX-License-Identifier: BSD-3-Clause
//
// Two threads of each PE give collectives of two teams, whose members are on two nodes, to two streams. The queue of a
// stream has room for one call, so a thread waits in the driver until the other members have come to its team. PE 0
// begins with team 0, PE 1 with team 1; the other threads begin when the first ones wait.
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "driver_call.h"

enum { kWords = 100, kCalls = 5, kMembers = 2, kWrong = 4 };

typedef struct {
  shmem_team_t team;
  shmemx_stream_t stream;
  long *source, *dest;
} lane_t;
static lane_t lanes[2];

static void* give(void* argument) {
  const lane_t* const lane = argument;
  for (int i = 0; i < kCalls; ++i)
    shmemx_long_fcollect_on_stream(lane->team, lane->dest, lane->source, kWords, lane->stream);
  return NULL;
}

static void make(lane_t* lane) {
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, kMembers, NULL, 0, &lane->team);
  lane->source = shmem_malloc(kWords * sizeof(long));
  lane->dest = shmem_calloc(kMembers * kWords, sizeof(long));
  if (lane->team == SHMEM_TEAM_INVALID || !lane->source || !lane->dest) exit(kRefused);
  long words[kWords];
  for (int i = 0; i < kWords; ++i) words[i] = 1000 * shmem_my_pe() + i;
  shmem_putmem(lane->source, words, sizeof words, shmem_my_pe());
  call("cuStreamCreateWithPriority", (uintptr_t)&lane->stream, kNonBlocking, 0);
}

static void check(const lane_t* lane) {
  call("cuStreamSynchronize", (uintptr_t)lane->stream, 0, 0);
  long words[kMembers * kWords];
  shmem_getmem(words, lane->dest, sizeof words, shmem_my_pe());
  for (int i = 0; i < kMembers * kWords; ++i)
    if (words[i] != 1000 * (i / kWords) + i % kWords) exit(kWrong);
}

int main(void) {
  alarm(40);  // a hang must not outlive the test
  int provided = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  const int me = shmem_my_pe();
  for (int i = 0; i < 2; ++i) make(&lanes[i]);
  shmem_barrier_all();
  pthread_t first, second;
  pthread_create(&first, NULL, give, &lanes[me]);
  while (try_call("railshmem_fake_waiting", 1, 0, 0) != 0) usleep(1000);
  shmem_barrier_all();
  pthread_create(&second, NULL, give, &lanes[1 - me]);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  for (int i = 0; i < 2; ++i) check(&lanes[i]);
  printf("PE %d: all calls have run\n", me);
  shmem_finalize();
  return 0;
}
