// SPDX-License-Identifier: BSD-3-Clause
// Stands for Open MPI's library: without its own launcher each process is a job of one PE.
__attribute__((visibility("default"))) int start_pes_of_another_library(void);
int start_pes_of_another_library(void) {
  return 1;
}
