// SPDX-License-Identifier: BSD-3-Clause
// GDRCopy, which maps memory of GPUs for the CPU: what the library calls of libgdrapi, loaded at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace railshmem::cuda {

/// gdr_mh_t: memory that is pinned for a mapping.
struct GdrHandle {
  unsigned long value;
};

/// Functions that return a number return 0, or an errno.
struct GdrApi {
  void* (*open)() = nullptr;  ///< null where the kernel module gdrdrv does not answer
  int (*close)(void* session) = nullptr;
  int (*pin)(void* session, unsigned long address, size_t nbytes, uint64_t token, uint32_t va_space,
             GdrHandle* handle) = nullptr;
  int (*unpin)(void* session, GdrHandle handle) = nullptr;
  int (*map)(void* session, GdrHandle handle, void** mapped, size_t nbytes) = nullptr;
  int (*unmap)(void* session, GdrHandle handle, void* mapped, size_t nbytes) = nullptr;
  int (*copy_to)(GdrHandle handle, void* mapped, const void* from, size_t nbytes) = nullptr;
};

/// Throws Error, which says what to install, where there is no libgdrapi.so.2.
GdrApi load_gdr_api();

}  // namespace railshmem::cuda
