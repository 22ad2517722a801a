// SPDX-License-Identifier: BSD-3-Clause
// For NVRTC, which has no headers of the standard library and knows memcpy by itself.
#ifndef SHMEM_NVRTC_STRING_H
#define SHMEM_NVRTC_STRING_H
#endif
