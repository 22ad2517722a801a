// SPDX-License-Identifier: BSD-3-Clause
//
// C11 names of point-to-point synchronisation.
#ifndef RAILSHMEM_SHMEM_GENERIC_WAIT_H
#define RAILSHMEM_SHMEM_GENERIC_WAIT_H

#include "shmem/generic/select.h"

/// One word. The old short types take part; shmem_wait_until is also the name of a function, on long.
#define RAILSHMEM_WAIT_SCALAR_TYPES(X, A) RAILSHMEM_AMO_DISTINCT_TYPES(X, A) RAILSHMEM_OLD_P2P_TYPES(X, A)
#define shmem_wait_until(...) RAILSHMEM_SELECT(RAILSHMEM_WAIT_SCALAR_TYPES, RAILSHMEM_PICK, _wait_until, __VA_ARGS__)
#define shmem_test(...) RAILSHMEM_SELECT(RAILSHMEM_WAIT_SCALAR_TYPES, RAILSHMEM_PICK, _test, __VA_ARGS__)

/// Several words against one value. The short types are extensions, whose rows X names with _EXTENSION behind.
#define RAILSHMEM_PICK_EXTENSION(OP, N, T) T* : shmemx_##N##OP,
#define RAILSHMEM_PICK_NAMES_EXTENSION(OP, N, T) RAILSHMEM_PICK_NAMES(OP, N, T)
#define RAILSHMEM_WAIT_MANY_TYPES(X, A) RAILSHMEM_AMO_DISTINCT_TYPES(X, A) RAILSHMEM_OLD_P2P_TYPES(X##_EXTENSION, A)
#define shmem_wait_until_all(...) \
  RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) \
  RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) \
  RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _wait_until_some, __VA_ARGS__)
#define shmem_test_all(...) RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _test_all, __VA_ARGS__)
#define shmem_test_any(...) RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _test_any, __VA_ARGS__)
#define shmem_test_some(...) RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _test_some, __VA_ARGS__)

/// Several words against a value each.
#define shmem_wait_until_all_vector(...) \
  RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) \
  RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) \
  RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test_all_vector(...) \
  RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) \
  RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) \
  RAILSHMEM_SELECT(RAILSHMEM_WAIT_MANY_TYPES, RAILSHMEM_PICK, _test_some_vector, __VA_ARGS__)

#endif
