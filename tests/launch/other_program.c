// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

int start_pes_of_another_library(void);

int main(void) {
  printf("PE 0 of %d\n", start_pes_of_another_library());
  return 0;
}
