// SPDX-License-Identifier: BSD-3-Clause
// A PE that is started with some of descriptors 0 to 2 closed: none of them becomes the library's, what the program
// prints goes nowhere, and after shmem_finalize they are closed as before. It writes what it saw to FOLDER/pe.N.
//   closed_fds FOLDER
#include <errno.h>
#include <fcntl.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 4 << 20, kLines = 300000 };
static char global[1 << 16];

static FILE* report;
static int wrong;

static void expect(int well, const char* what, int fd) {
  if (well) return;
  wrong = 1;
  fprintf(report, "wrong: %s, descriptor %d\n", what, fd);
}

static int is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

static void expect_useless(int fd) {
  char byte = 'x';
  errno = 0;
  expect(read(fd, &byte, 1) == -1 && errno == EBADF, "it can be read", fd);
  errno = 0;
  expect(write(fd, &byte, 1) == -1 && errno == EBADF, "it can be written", fd);
}

int main(int argc, char** argv) {
  int closed[3], pe, npes;
  char path[4096], out[4096];
  for (int fd = 0; fd < 3; ++fd) closed[fd] = !is_open(fd);
  if (argc != 2) return 2;
  shmem_init();
  pe = shmem_my_pe(), npes = shmem_n_pes();
  snprintf(path, sizeof path, "%s/pe.%d.part", argv[1], pe);
  snprintf(out, sizeof out, "%s/pe.%d", argv[1], pe);
  report = fopen(path, "w");
  if (report == NULL) return 3;
  expect(fileno(report) > 2, "the program's file took its number", fileno(report));
  char* heap = shmem_malloc(kBytes);
  memset(heap, 1, kBytes);
  memset(global, 2, sizeof global);
  shmem_barrier_all();
  shmem_putmem(heap, global, 8, (pe + 1) % npes);
  shmem_barrier_all();
  for (int fd = 0; fd < 3; ++fd)
    if (closed[fd]) expect_useless(fd);
  if (closed[1])
    for (int i = 0; i < kLines; ++i) printf("a line of output\n");
  if (closed[2])
    for (int i = 0; i < 1000; ++i) fprintf(stderr, "a message\n");
  fflush(stdout);
  char byte;
  if (closed[0]) expect(fread(&byte, 1, 1, stdin) == 0, "stdin gave a byte", 0);
  shmem_barrier_all();
  size_t bad = 0;
  for (size_t i = 0; i < kBytes; ++i) bad += heap[i] != (i < 8 ? 2 : 1);
  for (size_t i = 0; i < sizeof global; ++i) bad += global[i] != 2;
  expect(bad == 0, "bytes of the heap or of globals have changed", -1);
  // What the program puts there meanwhile is its own.
  const int own = closed[0] ? dup2(fileno(report), 0) : -1;
  shmem_free(heap);
  shmem_finalize();
  if (own == 0) expect(is_open(0) && write(0, "", 0) == 0, "the program's own was closed", 0);
  for (int fd = own + 1; fd < 3; ++fd)
    if (closed[fd]) expect(!is_open(fd), "it stays open after shmem_finalize", fd);
  fprintf(report, "%s, %d closed\n", wrong ? "failed" : "well", closed[0] + closed[1] + closed[2]);
  fclose(report);
  return wrong || rename(path, out) != 0;
}
