// SPDX-License-Identifier: BSD-3-Clause
// What the functions behind the names of the API share: they end in the DeviceCall that a failure names.
#ifndef SHMEM_DEVICE_CALLS_DEFINE_H
#define SHMEM_DEVICE_CALLS_DEFINE_H

#include "shmem/api.h"
#include "shmem/types.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/device/call.h"

#if defined(__CUDACC__)
#define RAILSHMEM_KERNEL __device__
#else
#define RAILSHMEM_KERNEL
#endif

namespace railshmem {
namespace device {

/// The size of a long double on the host. Compilers of kernels warn of the type itself, which is a double there in all
/// but its memory.
enum : size_t { kLongDoubleBytes = sizeof(long double) };

}  // namespace device
}  // namespace railshmem

#endif

#endif
