// SPDX-License-Identifier: BSD-3-Clause
//
// Handles, structures and constants of every family (OpenSHMEM 1.6, Library Handles and Library Constants).
#ifndef RAILSHMEM_SHMEM_TYPES_H
#define RAILSHMEM_SHMEM_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "shmem/version.h"

/// A communication context: operations on different contexts are ordered and completed independently.
typedef struct railshmem_ctx* shmem_ctx_t;

/// A set of PEs that act together; PE numbers within it run from 0.
typedef struct railshmem_team* shmem_team_t;

/// C's complex types; an extension in C++, which -pedantic accepts only so, and NVRTC not at all.
#if defined(__cplusplus) && !defined(__CUDACC_RTC__)
__extension__ typedef float _Complex railshmem_complexf;
__extension__ typedef double _Complex railshmem_complexd;
#elif !defined(__cplusplus)
typedef float _Complex railshmem_complexf;
typedef double _Complex railshmem_complexd;
#endif

/// What a team is asked to provide; the mask given beside it says which fields count.
typedef struct {
  int num_contexts;  ///< contexts the program means to create from the team
} shmem_team_config_t;

/// What a program promises about a session on a context; the mask given beside it says which fields count.
typedef struct {
  size_t total_ops;  ///< upper bound on the operations of the session; SIZE_MAX means unknown
} shmem_ctx_session_config_t;

/// Predefined handles. Small integers rather than addresses: valid in initialisers, in any process and on a GPU.
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED ((shmem_team_t)2)

/// Version of the standard, and who implements it.
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN 256
#define SHMEM_VENDOR_STRING "RailSHMEM " RAILSHMEM_VERSION

/// Thread levels, from least to most concurrent.
#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

/// Comparisons for wait and test.
#define SHMEM_CMP_EQ 0
#define SHMEM_CMP_NE 1
#define SHMEM_CMP_GT 2
#define SHMEM_CMP_GE 3
#define SHMEM_CMP_LT 4
#define SHMEM_CMP_LE 5

/// What a signal update does to the signal word.
#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

/// Context options (long, or-able).
#define SHMEM_CTX_SERIALIZED (1L << 0)
#define SHMEM_CTX_PRIVATE (1L << 1)
#define SHMEM_CTX_NOSTORE (1L << 2)

/// Session options and configuration mask (long, or-able).
#define SHMEM_CTX_SESSION_BATCH (1L << 0)
#define SHMEM_CTX_SESSION_TOTAL_OPS (1L << 0)

/// Team configuration mask (long, or-able).
#define SHMEM_TEAM_NUM_CONTEXTS (1L << 0)

/// Allocation hints (long, or-able; 0 asks for nothing special).
#define SHMEM_MALLOC_ATOMICS_REMOTE (1L << 0)
#define SHMEM_MALLOC_SIGNAL_REMOTE (1L << 1)

/// Work arrays of the deprecated active-set collectives, in elements. 64 words are one per round of a
/// dissemination pattern over any number of PEs that an int can count, with room to double-buffer.
#define SHMEM_SYNC_VALUE 0L
#define SHMEM_SYNC_SIZE 64
#define SHMEM_BARRIER_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 64

/// Deprecated spellings with a leading underscore.
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE

#endif
