// SPDX-License-Identifier: BSD-3-Clause
//
// Every PE forks a child that does what the first argument says. "2 PEs ended well" when parents and children ended as
// they should; a child that calls the library must not get past that. "outlives": only PE 1 has a child, and is killed
// before that ends, while the others wait for it.
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void start_pes(int npes);

enum { kUnnoticed = 3, kEnded = 1 };

static long word;

static void call_library(const char* call) {
  if (strcmp(call, "init") == 0) shmem_init();
  if (strcmp(call, "finalize") == 0) shmem_finalize();
  if (strcmp(call, "global_exit") == 0) shmem_global_exit(9);
  if (strcmp(call, "my_pe") == 0) shmem_my_pe();
  if (strcmp(call, "long_p") == 0) shmem_long_p(&word, 1, 0);
  if (strcmp(call, "barrier_all") == 0) shmem_barrier_all();
  if (strcmp(call, "malloc") == 0) shmem_malloc(64);
}

/// The status with which a child ends that does what `way` says.
static int status_of_child(const char* way) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    if (strncmp(way, "exit", 4) == 0) exit(0);
    call_library(way);
    _exit(kUnnoticed);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

static void leave(int signal_number) {
  (void)signal_number;
  static const char kText[] = "PE 0 leaves by exit\n";
  if (write(1, kText, sizeof kText - 1) > 0) exit(0);
}

/// PE 1 fails; PE 0 is ended for it, by a signal on which it cleans up.
static void be_ended(void) {
  if (shmem_my_pe() == 0) signal(SIGTERM, leave);
  shmem_barrier_all();  // not before PE 0 is ready for its signal
  if (shmem_my_pe() == 1) _exit(5);
  for (volatile long i = 0;; ++i) {
  }
}

/// The child lives long enough for the others to give up waiting.
static void be_outlived(void) {
  if (shmem_my_pe() == 1) {
    const pid_t child = fork();
    if (child == 0) {
      close(1);  // whoever collects the output does not wait for the child
      close(2);
      sleep(20);
      _exit(0);
    }
    if (child < 0) _exit(kUnnoticed);
    sleep(1);
    kill(getpid(), SIGKILL);
  }
  shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
  _exit(kUnnoticed);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  alarm(40);
  if (strcmp(way, "exit_of_start_pes") == 0)
    start_pes(0);
  else
    shmem_init();
  if (strcmp(way, "ended_by_signal") == 0) be_ended();
  if (strcmp(way, "outlives") == 0) be_outlived();
  const int me = shmem_my_pe();
  const int expected = strncmp(way, "exit", 4) == 0 ? 0 : kEnded;
  if (strcmp(way, "exit_after_finalize") == 0) shmem_finalize();
  const int status = status_of_child(way);
  if (strcmp(way, "exit_after_finalize") == 0) shmem_init();
  word = status != expected;
  static long sum;
  if (shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &word, 1) == 0 && sum == 0 && me == 0)
    printf("%d PEs ended well\n", shmem_n_pes());
  if (status != expected) printf("the child of PE %d ended with status %d\n", me, status);
  if (strcmp(way, "exit_of_start_pes") != 0) shmem_finalize();
  return 0;
}
