// SPDX-License-Identifier: BSD-3-Clause
//
// Constants and types. Their values are ours: a program that writes numbers instead of names does not port.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_CONSTANTS_H
#define RAILSHMEM_COMPAT_NVSHMEM_CONSTANTS_H

#include "nvshmem/define.h"

/// Version of the standard; and the release of NVSHMEM whose names these headers follow.
#define NVSHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define NVSHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define NVSHMEM_VENDOR_MAJOR_VERSION 3
#define NVSHMEM_VENDOR_MINOR_VERSION 4
#define NVSHMEM_VENDOR_PATCH_VERSION 0
#define NVSHMEM_VENDOR_VERSION \
  (NVSHMEM_VENDOR_MAJOR_VERSION * 10000 + NVSHMEM_VENDOR_MINOR_VERSION * 100 + NVSHMEM_VENDOR_PATCH_VERSION)
#define NVSHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define NVSHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN

#define NVSHMEM_THREAD_SINGLE SHMEM_THREAD_SINGLE
#define NVSHMEM_THREAD_FUNNELED SHMEM_THREAD_FUNNELED
#define NVSHMEM_THREAD_SERIALIZED SHMEM_THREAD_SERIALIZED
#define NVSHMEM_THREAD_MULTIPLE SHMEM_THREAD_MULTIPLE

#define NVSHMEM_CMP_EQ SHMEM_CMP_EQ
#define NVSHMEM_CMP_NE SHMEM_CMP_NE
#define NVSHMEM_CMP_GT SHMEM_CMP_GT
#define NVSHMEM_CMP_GE SHMEM_CMP_GE
#define NVSHMEM_CMP_LT SHMEM_CMP_LT
#define NVSHMEM_CMP_LE SHMEM_CMP_LE
typedef int nvshmemx_cmp_type_t;

#define NVSHMEM_SIGNAL_SET SHMEM_SIGNAL_SET
#define NVSHMEM_SIGNAL_ADD SHMEM_SIGNAL_ADD
typedef int nvshmemx_signal_op_t;

typedef shmem_team_t nvshmem_team_t;
typedef uint64_t nvshmemx_team_uniqueid_t;
typedef struct {
  int num_contexts;
  nvshmemx_team_uniqueid_t uniqueid;  ///< for nvshmemx_team_init
} nvshmem_team_config_t;
#define NVSHMEM_TEAM_INVALID SHMEM_TEAM_INVALID
#define NVSHMEM_TEAM_WORLD SHMEM_TEAM_WORLD
#define NVSHMEM_TEAM_SHARED SHMEM_TEAM_SHARED
#define NVSHMEMX_TEAM_NODE SHMEM_TEAM_SHARED
// clang-format off
#define NVSHMEM_TEAM_CONFIG_INITIALIZER {0, 0}
// clang-format on
#define NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS SHMEM_TEAM_NUM_CONTEXTS

/// What functions that return an int may return here.
typedef enum {
  NVSHMEMX_SUCCESS = 0,
  NVSHMEMX_ERROR_INVALID_VALUE,
  NVSHMEMX_ERROR_OUT_OF_MEMORY,
  NVSHMEMX_ERROR_NOT_SUPPORTED,
  NVSHMEMX_ERROR_SYMMETRY,
  NVSHMEMX_ERROR_GPU_NOT_SELECTED,
  NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED,
  NVSHMEMX_ERROR_INTERNAL
} nvshmemx_status;

/// How far the start of the library has come; greater is further. Several PEs on one GPU make no difference here.
typedef enum {
  NVSHMEM_STATUS_NOT_INITIALIZED = 0,
  NVSHMEM_STATUS_IS_BOOTSTRAPPED,
  NVSHMEM_STATUS_IS_INITIALIZED,
  NVSHMEM_STATUS_LIMITED_MPG,
  NVSHMEM_STATUS_FULL_MPG
} nvshmemx_init_status_t;

/// Internal to NVSHMEM, but its perftests report errors with it.
#define NVSHMEMI_ERROR_PRINT(...) ((void)fprintf(stderr, __VA_ARGS__))

#endif
