// SPDX-License-Identifier: BSD-3-Clause
// For NVRTC, which has no headers of the standard library: what shmem.h uses of <stddef.h>.
#ifndef SHMEM_NVRTC_STDDEF_H
#define SHMEM_NVRTC_STDDEF_H

typedef decltype(sizeof 0) size_t;
typedef decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr)) ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif

#endif
