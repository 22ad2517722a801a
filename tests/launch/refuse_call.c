// SPDX-License-Identifier: BSD-3-Clause
// Runs a program to which the kernel refuses one system call: refuse_call NAME PROGRAM..., with NAME sched_setaffinity,
// sched_getaffinity or clone3, by which pthread_create makes threads. Exits with 77 where the kernel takes no such
// filter.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned number_of(const char* name) {
  if (strcmp(name, "sched_setaffinity") == 0) return SYS_sched_setaffinity;
  if (strcmp(name, "sched_getaffinity") == 0) return SYS_sched_getaffinity;
  return SYS_clone3;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const unsigned call = number_of(argv[1]);
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("prctl(PR_SET_SECCOMP)");
    return 77;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
