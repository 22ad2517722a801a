// SPDX-License-Identifier: BSD-3-Clause
//
// A graph that has captured a collective is launched when its team is gone (late_launch team), or the library
// (late_launch library). The library must end the PE with a message. Exit status 3 means that the launch came to an
// end. late_launch none destroys the graph in time, late_launch team_none does so after the team; late_launch abandoned
// neither destroys nor launches it.
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "driver_call.h"

enum { kWords = 100 };

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "library";
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  long* source = shmem_calloc(kWords, sizeof(long));
  long* dest = shmem_calloc(kWords * (size_t)shmem_n_pes(), sizeof(long));
  shmemx_stream_t stream = NULL;
  shmem_team_t team = SHMEM_TEAM_INVALID;
  if (!source || !dest) return kRefused;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
  void *graph = NULL, *ready = NULL;
  call("cuStreamCreateWithPriority", (uintptr_t)&stream, kNonBlocking, 0);
  call("cuStreamBeginCapture_v2", (uintptr_t)stream, kThisThread, 0);
  shmemx_long_fcollect_on_stream(team, dest, source, kWords, stream);
  call("cuStreamEndCapture", (uintptr_t)stream, (uintptr_t)&graph, 0);
  call("cuGraphInstantiateWithFlags", (uintptr_t)&ready, (uintptr_t)graph, 0);
  call("cuGraphLaunch", (uintptr_t)ready, (uintptr_t)stream, 0);
  call("cuStreamSynchronize", (uintptr_t)stream, 0, 0);
  shmem_barrier_all();
  const int destroys = strcmp(what, "none") == 0 || strcmp(what, "team_none") == 0;
  if (strcmp(what, "team_none") == 0) shmem_team_destroy(team);
  if (destroys) {
    call("cuGraphExecDestroy", (uintptr_t)ready, 0, 0);
    call("cuGraphDestroy", (uintptr_t)graph, 0, 0);
  }
  if (strcmp(what, "team") == 0)
    shmem_team_destroy(team);
  else
    shmem_finalize();
  if (destroys || strcmp(what, "abandoned") == 0) return 0;
  call("cuGraphLaunch", (uintptr_t)ready, (uintptr_t)stream, 0);
  call("cuStreamSynchronize", (uintptr_t)stream, 0, 0);
  return kRefused;
}
