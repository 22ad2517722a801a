// SPDX-License-Identifier: BSD-3-Clause
// For NVRTC, which has no headers of the standard library: what shmem.h and kernels with it use of <stdint.h>.
#ifndef SHMEM_NVRTC_STDINT_H
#define SHMEM_NVRTC_STDINT_H

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
// As with nvcc on Linux: those of the host.
typedef long int64_t;
typedef unsigned long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;

#define INT32_MAX 0x7fffffff
#define UINT32_MAX 0xffffffffu
#define INT64_MAX static_cast<int64_t>(0x7fffffffffffffff)
#define UINT64_MAX static_cast<uint64_t>(0xffffffffffffffff)
#define SIZE_MAX UINT64_MAX

#endif
