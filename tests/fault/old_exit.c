// SPDX-License-Identifier: BSD-3-Clause
//
// A program of start_pes, which calls no finalize, ends otherwise than by coming to its end:
//   old_exit abort|exit wait|barrier|end   PE 0 aborts, or exits with status 7, while the others do the second thing
//   old_exit all                           all PEs return 7 from main, PE 1 some time after PE 0
//   old_exit fork                          PE 0 has a child that exits with status 0, and another with 7
// Exit status 4: the mistake went unnoticed.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kFailed = 7, kUnnoticed = 4 };

static long word;

static int child_status(int status) {
  const pid_t child = fork();
  if (child == 0) exit(status);
  int how = -1;
  waitpid(child, &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const char* others = argc > 2 ? argv[2] : "";
  alarm(40);  // a hang must not outlive the test
  start_pes(0);
  const int me = shmem_my_pe();
  shmem_barrier_all();
  if (me == 0 && strcmp(what, "abort") == 0) abort();
  if (me == 0 && strcmp(what, "exit") == 0) exit(kFailed);
  if (strcmp(what, "all") == 0) {
    if (me == 1) usleep(100000);
    printf("the last line of PE %d\n", me);  // stays in the buffer of stdout when that is no terminal
    return kFailed;
  }
  if (strcmp(what, "fork") == 0) {
    if (me == 0 && (child_status(0) != 0 || child_status(kFailed) != kFailed)) return kUnnoticed;
    shmem_barrier_all();
    return 0;
  }
  if (strcmp(others, "end") == 0) return 0;
  if (strcmp(others, "barrier") == 0) shmem_barrier_all();
  shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
  return kUnnoticed;
}
