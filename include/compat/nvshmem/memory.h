// SPDX-License-Identifier: BSD-3-Clause
//
// The symmetric heap, and buffers outside it.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_MEMORY_H
#define RAILSHMEM_COMPAT_NVSHMEM_MEMORY_H

#include "nvshmem/constants.h"

RAILSHMEM_COMPAT_HOST void* nvshmem_malloc(size_t size) {
  return shmem_malloc(size);
}
RAILSHMEM_COMPAT_HOST void* nvshmem_calloc(size_t count, size_t size) {
  return shmem_calloc(count, size);
}
RAILSHMEM_COMPAT_HOST void* nvshmem_align(size_t alignment, size_t size) {
  return shmem_align(alignment, size);
}
RAILSHMEM_COMPAT_HOST void* nvshmem_realloc(void* ptr, size_t size) {
  return shmem_realloc(ptr, size);
}
RAILSHMEM_COMPAT_HOST void nvshmem_free(void* ptr) {
  shmem_free(ptr);
}
RAILSHMEM_COMPAT(void*, nvshmem_ptr, (const void* dest, int pe), shmem_ptr, (dest, pe))
/// Where a team's copies can be written all at once, by multicast. Always NULL here, which programs must expect.
RAILSHMEM_COMPAT_SIDES void* nvshmemx_mc_ptr(nvshmem_team_t team, const void* ptr) {
  (void)team;
  (void)ptr;
  return NULL;
}

RAILSHMEM_COMPAT_HOST int nvshmemx_buffer_register(void* addr, size_t length) {
  return shmemx_buffer_register(addr, length);
}
RAILSHMEM_COMPAT_HOST int nvshmemx_buffer_unregister(void* addr) {
  return shmemx_buffer_unregister(addr);
}
RAILSHMEM_COMPAT_HOST void nvshmemx_buffer_unregister_all(void) {
  shmemx_buffer_unregister_all();
}
RAILSHMEM_COMPAT_HOST void* nvshmemx_buffer_register_symmetric(void* buf_ptr, size_t size, int flags) {
  return shmemx_buffer_register_symmetric(buf_ptr, size, flags);
}
RAILSHMEM_COMPAT_HOST int nvshmemx_buffer_unregister_symmetric(void* mmap_ptr, size_t size) {
  return shmemx_buffer_unregister_symmetric(mmap_ptr, size);
}

#endif
