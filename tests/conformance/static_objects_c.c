// SPDX-License-Identifier: BSD-3-Clause
#include "static_objects.h"

long c_data[kStaticLongs] = {11, 22, 33};
unsigned char c_bss[kBssBytes];
uint64_t c_signal = 0;

static long file_static = 1234;

long* c_static_data(void) {
  return &file_static;
}

long* c_function_static(void) {
  static long word = 4321;
  return &word;
}
