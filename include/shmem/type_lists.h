// SPDX-License-Identifier: BSD-3-Clause
//
// The type tables of the API (OpenSHMEM 1.6, tables of type names), each written once.
//
// RAILSHMEM_x_TYPES(X, A) calls X(A, NAME, TYPE) per row, A being handed through untouched; RAILSHMEM_FOR_x_TYPES(X)
// calls X(NAME, TYPE). Tables are split into DISTINCT rows, no two of which are the same type, and ALIAS rows, which
// are other spellings of distinct ones: type selection may list a type only once.
#ifndef RAILSHMEM_SHMEM_TYPE_LISTS_H
#define RAILSHMEM_SHMEM_TYPE_LISTS_H

#include <stddef.h>
#include <stdint.h>

// clang-format off
#define RAILSHMEM_WITHOUT_A(X, NAME, TYPE) X(NAME, TYPE)

/// Atomic memory operations of the standard set, and point-to-point synchronisation.
#define RAILSHMEM_AMO_DISTINCT_TYPES(X, A) \
  X(A, int, int)                           \
  X(A, long, long)                         \
  X(A, longlong, long long)                \
  X(A, uint, unsigned int)                 \
  X(A, ulong, unsigned long)               \
  X(A, ulonglong, unsigned long long)
#define RAILSHMEM_AMO_ALIAS_TYPES(X, A) \
  X(A, int32, int32_t)                  \
  X(A, int64, int64_t)                  \
  X(A, uint32, uint32_t)                \
  X(A, uint64, uint64_t)                \
  X(A, size, size_t)                    \
  X(A, ptrdiff, ptrdiff_t)
#define RAILSHMEM_AMO_TYPES(X, A) RAILSHMEM_AMO_DISTINCT_TYPES(X, A) RAILSHMEM_AMO_ALIAS_TYPES(X, A)
#define RAILSHMEM_FOR_AMO_TYPES(X) RAILSHMEM_AMO_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Atomic fetch, set and swap.
#define RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES(X, A) \
  X(A, float, float)                                \
  X(A, double, double)                              \
  RAILSHMEM_AMO_DISTINCT_TYPES(X, A)
#define RAILSHMEM_AMO_EXTENDED_TYPES(X, A) RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES(X, A) RAILSHMEM_AMO_ALIAS_TYPES(X, A)
#define RAILSHMEM_FOR_AMO_EXTENDED_TYPES(X) RAILSHMEM_AMO_EXTENDED_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Atomic and, or, xor. The signed types are the fixed-width ones only, so here they are distinct.
#define RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES(X, A) \
  X(A, uint, unsigned int)                         \
  X(A, ulong, unsigned long)                       \
  X(A, ulonglong, unsigned long long)              \
  X(A, int32, int32_t)                             \
  X(A, int64, int64_t)
#define RAILSHMEM_AMO_BITWISE_TYPES(X, A)    \
  RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES(X, A) \
  X(A, uint32, uint32_t)                     \
  X(A, uint64, uint64_t)
#define RAILSHMEM_FOR_AMO_BITWISE_TYPES(X) RAILSHMEM_AMO_BITWISE_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Remote memory access, put with signal, and most collectives.
#define RAILSHMEM_RMA_DISTINCT_TYPES(X, A)    \
  RAILSHMEM_KERNEL_DISTINCT_TYPES(X, A)       \
  X(A, longdouble, long double)

/// Those with which a kernel can compute.
#define RAILSHMEM_KERNEL_DISTINCT_TYPES(X, A) \
  RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES(X, A) \
  X(A, char, char)                            \
  X(A, schar, signed char)                    \
  X(A, short, short)                          \
  X(A, uchar, unsigned char)                  \
  X(A, ushort, unsigned short)
#define RAILSHMEM_KERNEL_TYPES(X, A) RAILSHMEM_KERNEL_DISTINCT_TYPES(X, A) RAILSHMEM_RMA_ALIAS_TYPES(X, A)
/// And the others of reductions.
#define RAILSHMEM_HOST_ORDER_TYPES(X, A) X(A, longdouble, long double)
#define RAILSHMEM_HOST_SUM_TYPES(X, A) RAILSHMEM_HOST_ORDER_TYPES(X, A) RAILSHMEM_COMPLEX_TYPES(X, A)
#define RAILSHMEM_RMA_ALIAS_TYPES(X, A) \
  RAILSHMEM_AMO_ALIAS_TYPES(X, A)       \
  X(A, int8, int8_t)                    \
  X(A, int16, int16_t)                  \
  X(A, uint8, uint8_t)                  \
  X(A, uint16, uint16_t)
#define RAILSHMEM_RMA_TYPES(X, A) RAILSHMEM_RMA_DISTINCT_TYPES(X, A) RAILSHMEM_RMA_ALIAS_TYPES(X, A)
#define RAILSHMEM_FOR_RMA_TYPES(X) RAILSHMEM_RMA_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Reductions by and, or, xor: the unsigned types, and the signed ones of fixed width.
#define RAILSHMEM_REDUCE_BITS_DISTINCT_TYPES(X, A) \
  X(A, uchar, unsigned char)                       \
  X(A, ushort, unsigned short)                     \
  X(A, uint, unsigned int)                         \
  X(A, ulong, unsigned long)                       \
  X(A, ulonglong, unsigned long long)              \
  X(A, int8, int8_t)                               \
  X(A, int16, int16_t)                             \
  X(A, int32, int32_t)                             \
  X(A, int64, int64_t)
#define RAILSHMEM_REDUCE_BITS_ALIAS_TYPES(X, A) \
  X(A, uint8, uint8_t)                          \
  X(A, uint16, uint16_t)                        \
  X(A, uint32, uint32_t)                        \
  X(A, uint64, uint64_t)                        \
  X(A, size, size_t)
#define RAILSHMEM_REDUCE_BITS_TYPES(X, A)     \
  RAILSHMEM_REDUCE_BITS_DISTINCT_TYPES(X, A)  \
  RAILSHMEM_REDUCE_BITS_ALIAS_TYPES(X, A)
#define RAILSHMEM_FOR_REDUCE_BITS_TYPES(X) RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Reductions by max and min.
#define RAILSHMEM_REDUCE_ORDER_DISTINCT_TYPES(X, A) RAILSHMEM_RMA_DISTINCT_TYPES(X, A)
#define RAILSHMEM_REDUCE_ORDER_TYPES(X, A) RAILSHMEM_RMA_TYPES(X, A)
#define RAILSHMEM_FOR_REDUCE_ORDER_TYPES(X) RAILSHMEM_REDUCE_ORDER_TYPES(RAILSHMEM_WITHOUT_A, X)

/// C's complex types; an extension in C++, which -pedantic accepts only so, and NVRTC not at all.
#if defined(__CUDACC_RTC__)
#define RAILSHMEM_COMPLEX_TYPES(X, A)
#elif defined(__cplusplus)
__extension__ typedef float _Complex railshmem_complexf;
__extension__ typedef double _Complex railshmem_complexd;
#define RAILSHMEM_COMPLEX_TYPES(X, A) X(A, complexf, railshmem_complexf) X(A, complexd, railshmem_complexd)
#else
#define RAILSHMEM_COMPLEX_TYPES(X, A) X(A, complexf, float _Complex) X(A, complexd, double _Complex)
#endif

/// Reductions by sum and product, and scans.
#define RAILSHMEM_REDUCE_SUM_DISTINCT_TYPES(X, A) \
  RAILSHMEM_REDUCE_ORDER_DISTINCT_TYPES(X, A)     \
  RAILSHMEM_COMPLEX_TYPES(X, A)
#define RAILSHMEM_REDUCE_SUM_TYPES(X, A) RAILSHMEM_REDUCE_ORDER_TYPES(X, A) RAILSHMEM_COMPLEX_TYPES(X, A)
#define RAILSHMEM_FOR_REDUCE_SUM_TYPES(X) RAILSHMEM_REDUCE_SUM_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Element sizes, in bits, of the untyped forms: X(A, BITS) or X(BITS).
#define RAILSHMEM_SIZES(X, A) X(A, 8) X(A, 16) X(A, 32) X(A, 64) X(A, 128)
#define RAILSHMEM_FOR_SIZES(X) X(8) X(16) X(32) X(64) X(128)

/// Deprecated additions to scalar wait_until and test.
#define RAILSHMEM_OLD_P2P_TYPES(X, A) X(A, short, short) X(A, ushort, unsigned short)
#define RAILSHMEM_FOR_OLD_P2P_TYPES(X) RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Deprecated wait.
#define RAILSHMEM_OLD_WAIT_TYPES(X, A) X(A, short, short) X(A, int, int) X(A, long, long) X(A, longlong, long long)
#define RAILSHMEM_FOR_OLD_WAIT_TYPES(X) RAILSHMEM_OLD_WAIT_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Deprecated atomic names: cswap, finc, inc, fadd, add.
#define RAILSHMEM_OLD_AMO_TYPES(X, A) X(A, int, int) X(A, long, long) X(A, longlong, long long)
#define RAILSHMEM_FOR_OLD_AMO_TYPES(X) RAILSHMEM_OLD_AMO_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Deprecated atomic names: fetch, set, swap.
#define RAILSHMEM_OLD_AMO_EXTENDED_TYPES(X, A) \
  X(A, float, float)                           \
  X(A, double, double)                         \
  RAILSHMEM_OLD_AMO_TYPES(X, A)
#define RAILSHMEM_FOR_OLD_AMO_EXTENDED_TYPES(X) RAILSHMEM_OLD_AMO_EXTENDED_TYPES(RAILSHMEM_WITHOUT_A, X)

/// Deprecated reductions over active sets: by and, or, xor; by max and min; by sum and product.
#define RAILSHMEM_TO_ALL_BITS_TYPES(X, A) RAILSHMEM_OLD_WAIT_TYPES(X, A)
#define RAILSHMEM_TO_ALL_ORDER_TYPES(X, A) \
  RAILSHMEM_TO_ALL_BITS_TYPES(X, A)        \
  X(A, float, float)                       \
  X(A, double, double)                     \
  X(A, longdouble, long double)
#define RAILSHMEM_TO_ALL_SUM_TYPES(X, A) RAILSHMEM_TO_ALL_ORDER_TYPES(X, A) RAILSHMEM_COMPLEX_TYPES(X, A)
// clang-format on

#endif
