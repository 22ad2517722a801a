// SPDX-License-Identifier: BSD-3-Clause
// Host code of a CUDA unit: names and overloads are the library's functions, which have addresses, too.
#include <shmem.h>

using Put = void(int*, const int*, size_t, int);

Put* address_of_put() {
  return &shmem_int_put;
}

int call(int* word, float* number) {
  shmem_put(word, word, 1, 0);
  shmem_get(SHMEM_CTX_DEFAULT, word, word, 1, 0);
  shmem_p(number, 1.0F, 0);
  return shmem_atomic_fetch_inc(word, 0) + shmem_my_pe();
}
