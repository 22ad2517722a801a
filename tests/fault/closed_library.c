// SPDX-License-Identifier: BSD-3-Clause
//
// A program that is not linked with the library loads it, uses it and closes it, as interpreters do with their modules:
//   closed_library LIBRARY start_pes   closes it before the finalize that start_pes implies
//   closed_library LIBRARY running     closes it while the library runs, and gives its threads time to go on
//   closed_library LIBRARY twice       loads, starts, finalizes and closes it twice
// "closed and alive" once the library is closed and the program has forked and set its environment.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kCannotLoad = 4, kWrongValue = 5, kChildFailed = 6 };

typedef void (*Procedure)(void);

static void* library;

static Procedure function(const char* name) {
  Procedure found;
  *(void**)&found = dlsym(library, name);
  if (!found) exit(kCannotLoad);
  return found;
}

static void load(const char* path) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library) return;
  fprintf(stderr, "%s\n", dlerror());
  exit(kCannotLoad);
}

/// Every PE puts its number to the next one.
static void put_to_neighbour(void) {
  const int me = ((int (*)(void))function("shmem_my_pe"))();
  const int npes = ((int (*)(void))function("shmem_n_pes"))();
  long* word = ((void* (*)(size_t))function("shmem_malloc"))(sizeof *word);
  if (!word) exit(kWrongValue);
  ((void (*)(long*, long, int))function("shmem_long_p"))(word, me, (me + 1) % npes);
  function("shmem_barrier_all")();
  if (*word != (me + npes - 1) % npes) exit(kWrongValue);
}

/// What reaches handlers that a library may have left behind.
static void go_on(void) {
  setenv("CLOSED_LIBRARY", "1", 1);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) exit(kChildFailed);
  printf("closed and alive\n");
}

int main(int argc, char** argv) {
  const char* way = argc > 2 ? argv[2] : "";
  alarm(40);  // a hang must not outlive the test
  const int rounds = strcmp(way, "twice") == 0 ? 2 : 1;
  for (int i = 0; i < rounds; ++i) {
    load(argv[1]);
    if (strcmp(way, "start_pes") == 0)
      ((void (*)(int))function("start_pes"))(0);
    else
      function("shmem_init")();
    put_to_neighbour();
    if (rounds == 2) function("shmem_finalize")();
    if (dlclose(library) != 0) exit(kCannotLoad);
  }
  if (strcmp(way, "running") == 0) usleep(300000);  // its threads look around in the meantime
  go_on();
  return 0;
}
