// SPDX-License-Identifier: BSD-3-Clause
// Asks for symmetric memory and says whether it came.
//   ask_memory MIB [stay]     stay: says the number of its process, and waits to be killed
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  shmem_init();
  void* const memory = shmem_malloc((size_t)atoi(argv[1]) << 20);
  if (argc > 2) {
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (;;) pause();
  }
  printf("%s MiB: %s\n", argv[1], memory == NULL ? "NULL" : "allocated");
  fflush(stdout);
  shmem_finalize();
  return 0;
}
