// SPDX-License-Identifier: BSD-3-Clause
//
// PE 2 comes late to the call named by the first argument. The others must say whom they wait for: PE 2, and nobody who
// waits for it as well. Second argument: "shared" gives all PEs one CPU, "stopped" stops PE 2 meanwhile.
#define _GNU_SOURCE
#include <sched.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kLatePe = 2, kLateMs = 7000 };  // SHMEM_TIMEOUT is 3 s; on one busy CPU a PE may not run for seconds

static void pause_ms(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/// Until a child wakes this process up.
static void stop_for(long ms) {
  const pid_t child = fork();
  if (child == 0) {
    pause_ms(ms);
    _exit(kill(getppid(), SIGCONT));
  }
  raise(SIGSTOP);
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  const char* call = argc > 1 ? argv[1] : "";
  const char* how = argc > 2 ? argv[2] : "";
  alarm(40);
  if (strcmp(how, "shared") == 0) {
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 3;
    for (int cpu = CPU_SETSIZE - 1; CPU_COUNT(&cpus) > 1; --cpu) CPU_CLR(cpu, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) return 3;
  }
  shmem_init();
  long* sum = shmem_calloc(1, sizeof *sum);
  long* mine = shmem_calloc(1, sizeof *mine);
  if (shmem_my_pe() == kLatePe) strcmp(how, "stopped") == 0 ? stop_for(kLateMs) : pause_ms(kLateMs);
  if (strcmp(call, "barrier") == 0) shmem_barrier_all();
  if (strcmp(call, "reduce") == 0) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, mine, 1);
  if (strcmp(call, "free") == 0) shmem_free(sum);
  shmem_finalize();
  return 0;
}
