// SPDX-License-Identifier: BSD-3-Clause
//
// The last PE puts to an object that is not symmetric: `unsymmetric global|constant|library|thread|stack|malloc`. Built
// twice; with OTHER_EXECUTABLE the global objects have another size. An object that is taken ends with status 3.
#include <alloca.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long* object_of_library(void);

static long global_word;
static const long constant_word = 4;
static _Thread_local long thread_word;
#ifdef OTHER_EXECUTABLE
char more[12345] = {1};
#endif

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  alarm(40);  // a hang must not outlive the test
  const char* which = argv[1];
  long* on_stack = alloca(sizeof *on_stack);  // AddressSanitizer may keep variables elsewhere
  long* object = &global_word;
  if (strcmp(which, "constant") == 0) object = (long*)&constant_word;
  if (strcmp(which, "library") == 0) object = object_of_library();
  if (strcmp(which, "thread") == 0) object = &thread_word;
  if (strcmp(which, "stack") == 0) object = on_stack;
  if (strcmp(which, "malloc") == 0) object = malloc(sizeof *object);
  shmem_init();
  if (shmem_my_pe() == shmem_n_pes() - 1) {
    shmem_long_p(object, 1, 0);
    _exit(3);
  }
  shmem_barrier_all();  // meets the end of the job
  return 3;
}
