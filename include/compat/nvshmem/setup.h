// SPDX-License-Identifier: BSD-3-Clause
//
// Start, end and queries.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_SETUP_H
#define RAILSHMEM_COMPAT_NVSHMEM_SETUP_H

#include "nvshmem/constants.h"

/// How nvshmemx_init_attr finds the other PEs. WITH_SHMEM finds them as shmem_init does, which the program may have
/// called.
#define NVSHMEMX_INIT_WITH_MPI_COMM (1u << 1)
#define NVSHMEMX_INIT_WITH_SHMEM (1u << 2)
#define NVSHMEMX_INIT_WITH_UNIQUEID (1u << 3)

typedef shmemx_uniqueid_t nvshmemx_uniqueid_t;
typedef shmemx_init_attr_t nvshmemx_init_attr_t;
// clang-format off
#define NVSHMEMX_UNIQUEID_INITIALIZER {{0}}
// clang-format on
#define NVSHMEMX_INIT_ATTR_INITIALIZER SHMEMX_INIT_ATTR_INITIALIZER

RAILSHMEM_COMPAT_HOST void nvshmem_init(void) {
  shmem_init();
}
RAILSHMEM_COMPAT_HOST int nvshmem_init_thread(int requested, int* provided) {
  return shmem_init_thread(requested, provided);
}
RAILSHMEM_COMPAT_HOST void nvshmem_query_thread(int* provided) {
  shmem_query_thread(provided);
}
RAILSHMEM_COMPAT_HOST void nvshmem_finalize(void) {
  shmem_finalize();
}
RAILSHMEM_COMPAT_HOST void nvshmem_global_exit(int status) {
  shmem_global_exit(status);
}

RAILSHMEM_COMPAT_HOST int nvshmemx_init_status(void) {
  int initialized = 0;
  shmem_query_initialized(&initialized);
  return initialized ? NVSHMEM_STATUS_IS_INITIALIZED : NVSHMEM_STATUS_NOT_INITIALIZED;
}

/// Programs hand over attributes of which they set nothing but the communicator; size is therefore filled in here.
RAILSHMEM_COMPAT_HOST int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attr) {
  int provided = 0;
  unsigned int ours = 0;
  if (flags & NVSHMEMX_INIT_WITH_MPI_COMM) ours |= SHMEMX_INIT_WITH_MPI_COMM;
  if (flags & NVSHMEMX_INIT_WITH_UNIQUEID) ours |= SHMEMX_INIT_WITH_UNIQUEID;
  if (ours == 0) return shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided);
  if (attr) attr->size = sizeof *attr;
  return shmemx_init_attr(ours, attr);
}
RAILSHMEM_COMPAT_HOST int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* uniqueid) {
  return shmemx_get_uniqueid(uniqueid);
}
RAILSHMEM_COMPAT_HOST int nvshmemx_set_attr_uniqueid_args(int myrank, int nranks, const nvshmemx_uniqueid_t* uniqueid,
                                                          nvshmemx_init_attr_t* attr) {
  if (attr) attr->size = sizeof *attr;
  return shmemx_set_attr_uniqueid_args(myrank, nranks, uniqueid, attr);
}
RAILSHMEM_COMPAT_HOST int nvshmemx_set_attr_mpi_comm_args(void* mpi_comm, nvshmemx_init_attr_t* attr) {
  if (!attr) return NVSHMEMX_ERROR_INVALID_VALUE;
  attr->size = sizeof *attr;
  attr->mpi_comm = mpi_comm;
  return NVSHMEMX_SUCCESS;
}

/// NVSHMEM's host library apart from its device library; here they are one.
RAILSHMEM_COMPAT_HOST int nvshmemx_hostlib_init_attr(unsigned int flags, nvshmemx_init_attr_t* attr) {
  return nvshmemx_init_attr(flags, attr);
}
RAILSHMEM_COMPAT_HOST void nvshmemx_hostlib_finalize(void) {
  shmem_finalize();
}

RAILSHMEM_COMPAT(int, nvshmem_my_pe, (void), shmem_my_pe, ())
RAILSHMEM_COMPAT(int, nvshmem_n_pes, (void), shmem_n_pes, ())
RAILSHMEM_COMPAT(void, nvshmem_info_get_version, (int* major, int* minor), shmem_info_get_version, (major, minor))
RAILSHMEM_COMPAT(void, nvshmem_info_get_name, (char* name), shmem_info_get_name, (name))
RAILSHMEM_COMPAT_SIDES void nvshmemx_vendor_get_version_info(int* major, int* minor, int* patch) {
  *major = NVSHMEM_VENDOR_MAJOR_VERSION;
  *minor = NVSHMEM_VENDOR_MINOR_VERSION;
  *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}

#endif
