// SPDX-License-Identifier: BSD-3-Clause
// Calls of the CUDA driver that is there, a real one or the tests' fake, without its headers.
#pragma once

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

enum { kThisThread = 1, kNonBlocking = 1, kRefused = 3 };

/// A function of the CUDA driver whose arguments are all as wide as a pointer. Returns its result. Ends the process
/// with kRefused where the driver lacks it.
static inline int try_call(const char* symbol, uintptr_t a, uintptr_t b, uintptr_t c) {
  static void* driver = NULL;
  int (*function)(uintptr_t, uintptr_t, uintptr_t) = NULL;
  if (driver == NULL) driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver != NULL) *(void**)&function = dlsym(driver, symbol);
  if (function == NULL) exit(kRefused);
  return function(a, b, c);
}

/// The same for a call that must not fail: the process ends with kRefused.
static inline void call(const char* symbol, uintptr_t a, uintptr_t b, uintptr_t c) {
  if (try_call(symbol, a, b, c) != 0) exit(kRefused);
}
