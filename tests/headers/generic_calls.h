// SPDX-License-Identifier: BSD-3-Clause
//
// One call of each generic of a family, without and with a context; C11 and C++ alike.
#ifndef RAILSHMEM_TESTS_GENERIC_CALLS_H
#define RAILSHMEM_TESTS_GENERIC_CALLS_H

// Type tables of the test's own: the header's take part in each selection, and a macro does not expand within itself.
// clang-format off
#define STANDARD_TYPES(X, CALLS) \
  X(CALLS, int, int) X(CALLS, long, long) X(CALLS, longlong, long long) X(CALLS, uint, unsigned int) \
  X(CALLS, ulong, unsigned long) X(CALLS, ulonglong, unsigned long long) X(CALLS, int32, int32_t) \
  X(CALLS, int64, int64_t) X(CALLS, uint32, uint32_t) X(CALLS, uint64, uint64_t) X(CALLS, size, size_t) \
  X(CALLS, ptrdiff, ptrdiff_t)
#define EXTENDED_TYPES(X, CALLS) X(CALLS, float, float) X(CALLS, double, double) STANDARD_TYPES(X, CALLS)
#define BITWISE_TYPES(X, CALLS) \
  X(CALLS, uint, unsigned int) X(CALLS, ulong, unsigned long) X(CALLS, ulonglong, unsigned long long) \
  X(CALLS, int32, int32_t) X(CALLS, int64, int64_t) X(CALLS, uint32, uint32_t) X(CALLS, uint64, uint64_t)
#define RMA_TYPES(X, CALLS) \
  EXTENDED_TYPES(X, CALLS) X(CALLS, longdouble, long double) X(CALLS, char, char) X(CALLS, schar, signed char) \
  X(CALLS, short, short) X(CALLS, uchar, unsigned char) X(CALLS, ushort, unsigned short) X(CALLS, int8, int8_t) \
  X(CALLS, int16, int16_t) X(CALLS, uint8, uint8_t) X(CALLS, uint16, uint16_t)
#define SHORT_TYPES(X, CALLS) X(CALLS, short, short) X(CALLS, ushort, unsigned short)
#define OLD_TYPES(X, CALLS) X(CALLS, int, int) X(CALLS, long, long) X(CALLS, longlong, long long)
#define OLD_EXTENDED_TYPES(X, CALLS) X(CALLS, float, float) X(CALLS, double, double) OLD_TYPES(X, CALLS)
// clang-format on

#define GENERIC_CALL(NAME, ...)    \
  (void)shmem_##NAME(__VA_ARGS__); \
  (void)shmem_##NAME(SHMEM_CTX_DEFAULT, __VA_ARGS__);

#define GENERIC_RMA_CALLS(T, DEST, SIGNAL)                                  \
  const T* source = DEST;                                                   \
  GENERIC_CALL(put, DEST, source, 1, 0)                                     \
  GENERIC_CALL(put_nbi, DEST, source, 1, 0)                                 \
  GENERIC_CALL(get, DEST, source, 1, 0)                                     \
  GENERIC_CALL(get_nbi, DEST, source, 1, 0)                                 \
  GENERIC_CALL(p, DEST, 1, 0)                                               \
  GENERIC_CALL(g, DEST, 0)                                                  \
  GENERIC_CALL(g, source, 0)                                                \
  GENERIC_CALL(iput, DEST, source, 1, 1, 1, 0)                              \
  GENERIC_CALL(iget, DEST, source, 1, 1, 1, 0)                              \
  GENERIC_CALL(ibput, DEST, source, 1, 1, 1, 1, 0)                          \
  GENERIC_CALL(ibget, DEST, source, 1, 1, 1, 1, 0)                          \
  GENERIC_CALL(put_signal, DEST, source, 1, SIGNAL, 1, SHMEM_SIGNAL_SET, 0) \
  GENERIC_CALL(put_signal_nbi, DEST, source, 1, SIGNAL, 1, SHMEM_SIGNAL_ADD, 0)

#define GENERIC_EXTENDED_CALLS(T, DEST, SIGNAL)       \
  T fetched;                                          \
  const T* source = DEST;                             \
  (void)SIGNAL;                                       \
  GENERIC_CALL(atomic_fetch, DEST, 0)                 \
  GENERIC_CALL(atomic_fetch, source, 0)               \
  GENERIC_CALL(atomic_set, DEST, 1, 0)                \
  GENERIC_CALL(atomic_swap, DEST, 1, 0)               \
  GENERIC_CALL(atomic_fetch_nbi, &fetched, source, 0) \
  GENERIC_CALL(atomic_swap_nbi, &fetched, DEST, 1, 0)

#define GENERIC_STANDARD_CALLS(T, DEST, SIGNAL)                  \
  T fetched;                                                     \
  GENERIC_CALL(atomic_compare_swap, DEST, 1, 2, 0)               \
  GENERIC_CALL(atomic_fetch_inc, DEST, 0)                        \
  GENERIC_CALL(atomic_inc, DEST, 0)                              \
  GENERIC_CALL(atomic_fetch_add, DEST, 1, 0)                     \
  GENERIC_CALL(atomic_add, DEST, 1, 0)                           \
  GENERIC_CALL(atomic_compare_swap_nbi, &fetched, DEST, 1, 2, 0) \
  GENERIC_CALL(atomic_fetch_inc_nbi, &fetched, DEST, 0)          \
  GENERIC_CALL(atomic_fetch_add_nbi, &fetched, DEST, 1, 0)       \
  GENERIC_WAIT_CALLS(T, DEST, SIGNAL)                            \
  GENERIC_WAIT_MANY_CALLS(T, DEST)

#define GENERIC_BITWISE_CALLS(T, DEST, SIGNAL)             \
  T fetched;                                               \
  (void)SIGNAL;                                            \
  GENERIC_CALL(atomic_and, DEST, 1, 0)                     \
  GENERIC_CALL(atomic_or, DEST, 1, 0)                      \
  GENERIC_CALL(atomic_xor, DEST, 1, 0)                     \
  GENERIC_CALL(atomic_fetch_and, DEST, 1, 0)               \
  GENERIC_CALL(atomic_fetch_or, DEST, 1, 0)                \
  GENERIC_CALL(atomic_fetch_xor, DEST, 1, 0)               \
  GENERIC_CALL(atomic_fetch_and_nbi, &fetched, DEST, 1, 0) \
  GENERIC_CALL(atomic_fetch_or_nbi, &fetched, DEST, 1, 0)  \
  GENERIC_CALL(atomic_fetch_xor_nbi, &fetched, DEST, 1, 0)

#define GENERIC_WAIT_CALLS(T, DEST, SIGNAL)   \
  (void)SIGNAL;                               \
  shmem_wait_until(DEST, SHMEM_CMP_EQ, (T)1); \
  (void)shmem_test(DEST, SHMEM_CMP_EQ, (T)1);

#define GENERIC_WAIT_MANY_CALLS(T, DEST)                                                \
  size_t indices[1];                                                                    \
  int status[1] = {0};                                                                  \
  shmem_wait_until_all(DEST, 1, status, SHMEM_CMP_EQ, 1);                               \
  (void)shmem_wait_until_any(DEST, 1, status, SHMEM_CMP_EQ, 1);                         \
  (void)shmem_wait_until_some(DEST, 1, indices, status, SHMEM_CMP_EQ, 1);               \
  shmem_wait_until_all_vector(DEST, 1, status, SHMEM_CMP_EQ, &fetched);                 \
  (void)shmem_wait_until_any_vector(DEST, 1, status, SHMEM_CMP_EQ, &fetched);           \
  (void)shmem_wait_until_some_vector(DEST, 1, indices, status, SHMEM_CMP_EQ, &fetched); \
  (void)shmem_test_all(DEST, 1, status, SHMEM_CMP_EQ, 1);                               \
  (void)shmem_test_any(DEST, 1, status, SHMEM_CMP_EQ, 1);                               \
  (void)shmem_test_some(DEST, 1, indices, status, SHMEM_CMP_EQ, 1);                     \
  (void)shmem_test_all_vector(DEST, 1, status, SHMEM_CMP_EQ, &fetched);                 \
  (void)shmem_test_any_vector(DEST, 1, status, SHMEM_CMP_EQ, &fetched);                 \
  (void)shmem_test_some_vector(DEST, 1, indices, status, SHMEM_CMP_EQ, &fetched);

/// The many-word forms of short types, extensions.
#define GENERIC_WAIT_SHORT_CALLS(T, DEST, SIGNAL) \
  T fetched = 0;                                  \
  (void)SIGNAL;                                   \
  GENERIC_WAIT_MANY_CALLS(T, DEST)

#define GENERIC_OLD_CALLS(T, DEST, SIGNAL) \
  (void)SIGNAL;                            \
  (void)(T)shmem_cswap(DEST, 1, 2, 0);     \
  (void)shmem_finc(DEST, 0);               \
  shmem_inc(DEST, 0);                      \
  (void)shmem_fadd(DEST, 1, 0);            \
  shmem_add(DEST, 1, 0);

#define GENERIC_OLD_EXTENDED_CALLS(T, DEST, SIGNAL) \
  const T* source = DEST;                           \
  (void)SIGNAL;                                     \
  (void)shmem_fetch(source, 0);                     \
  shmem_set(DEST, 1, 0);                            \
  (void)shmem_swap(DEST, 1, 0);

#endif
