// SPDX-License-Identifier: BSD-3-Clause
// Prints the name of each thread of this process, one a line, and waits for a signal as programs do that leave none to
// handlers. Exit status 0: the signal came to the thread that waits for it.
#include <dirent.h>
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long word;

static void print_threads(void) {
  DIR* const tasks = opendir("/proc/self/task");
  const struct dirent* task;
  while (tasks && (task = readdir(tasks))) {
    char path[300], name[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE* const comm = task->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (!comm) continue;
    if (fgets(name, sizeof name, comm)) printf("thread %s", name);
    fclose(comm);
  }
  if (tasks) closedir(tasks);
}

int main(void) {
  const struct timespec patience = {.tv_sec = 20};
  sigset_t usr1;
  shmem_init();
  shmem_long_p(&word, 1, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_barrier_all();
  if (shmem_my_pe() == 0) print_threads();
  // The library's threads run already. Without a mask of their own one of them would take the signal and end the job.
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, NULL);
  kill(getpid(), SIGUSR1);
  const int came = sigtimedwait(&usr1, NULL, &patience) == SIGUSR1;
  shmem_barrier_all();
  shmem_finalize();
  return !came;
}
