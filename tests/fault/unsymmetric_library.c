// SPDX-License-Identifier: BSD-3-Clause
// A shared library with an object of its own, for unsymmetric.c.
long* object_of_library(void);

static long word;

__attribute__((visibility("default"))) long* object_of_library(void) {
  return &word;
}
