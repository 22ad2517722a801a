// SPDX-License-Identifier: BSD-3-Clause
//
// Compile-only, C11 and later: every generic once per type of its table (aliases included), without and with a context.
#include <pshmem.h>
#include <shmem.h>

#include "generic_calls.h"

#define USE(CALLS, N, T)                              \
  void use_##CALLS##_##N(T* dest, uint64_t* signal);  \
  void use_##CALLS##_##N(T* dest, uint64_t* signal) { \
    CALLS(T, dest, signal)                            \
  }

RMA_TYPES(USE, GENERIC_RMA_CALLS)
EXTENDED_TYPES(USE, GENERIC_EXTENDED_CALLS)
STANDARD_TYPES(USE, GENERIC_STANDARD_CALLS)
BITWISE_TYPES(USE, GENERIC_BITWISE_CALLS)
SHORT_TYPES(USE, GENERIC_WAIT_CALLS)
SHORT_TYPES(USE, GENERIC_WAIT_SHORT_CALLS)
OLD_TYPES(USE, GENERIC_OLD_CALLS)
OLD_EXTENDED_TYPES(USE, GENERIC_OLD_EXTENDED_CALLS)

void use_signal(uint64_t* signal);
void use_signal(uint64_t* signal) {
  shmem_signal_add(signal, 1, 0);
  shmem_signal_add(SHMEM_CTX_DEFAULT, signal, 1, 0);
  shmem_signal_set(signal, 1, 0);
  shmem_signal_set(SHMEM_CTX_DEFAULT, signal, 1, 0);
}

// Selection must go by type: which function is chosen shows in the type of the result.
#define IS(EXPRESSION, T) _Static_assert(_Generic(EXPRESSION, T : 1, default : 0), "result has another type")
IS(shmem_g((const short*)0, 0), short);
IS(shmem_g(SHMEM_CTX_DEFAULT, (unsigned char*)0, 0), unsigned char);
IS(shmem_atomic_swap((double*)0, 1, 0), double);
IS(shmem_atomic_compare_swap(SHMEM_CTX_DEFAULT, (long long*)0, 1, 2, 0), long long);
IS(shmem_atomic_fetch((const float*)0, 0), float);
IS(shmem_swap((float*)0, 1, 0), float);

// Names that macros share with functions stay functions without the parentheses.
void (*const wait_until_function)(long*, int, long) = shmem_wait_until;
void (*const signal_add_function)(uint64_t*, uint64_t, int) = &shmem_signal_add;

// Nesting, commas in arguments, a user's macros in the way of our pasting.
#define put nothing_good
#define uint nothing_good
#define g nothing_good
void use_oddly(int* dest, unsigned int* other, int array[4]);
void use_oddly(int* dest, unsigned int* other, int array[4]) {
  int local[2] = {0, 0};
  shmem_p(dest, shmem_g(dest, shmem_atomic_fetch(array, 0)), shmem_g(array, 0));
  shmem_put(dest, local, 2, shmem_g(SHMEM_CTX_DEFAULT, dest, 0));
  shmem_put(other, ((unsigned int[]){1, 2}), 2, 0);
  shmem_put(SHMEM_CTX_DEFAULT, other, (unsigned int[]){1, 2}, 2, 0);
}
