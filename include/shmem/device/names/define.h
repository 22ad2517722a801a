// SPDX-License-Identifier: BSD-3-Clause
// How a name of the API becomes one function for host and kernels, in CUDA units.
#ifndef SHMEM_DEVICE_NAMES_DEFINE_H
#define SHMEM_DEVICE_NAMES_DEFINE_H

#include "shmem/device/calls/define.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

/// Opens the definition of a function for kernels only.
#define RAILSHMEM_KERNEL_BODY RAILSHMEM_LAZY RAILSHMEM_KERNEL inline
/// Opens the definition of a function for host and kernels.
#define RAILSHMEM_BOTH_BODY RAILSHMEM_LAZY RAILSHMEM_BOTH_SIDES inline

/// The call for the side that runs: of the library on the host, of railshmem::device in a kernel.
#if defined(RAILSHMEM_EMULATION) && RAILSHMEM_EMULATION == 2
#define RAILSHMEM_SIDE(HOST, CALL) (railshmem::emulation::in_kernel() ? CALL : (HOST))
#else
#define RAILSHMEM_SIDE(HOST, CALL) CALL
#endif

#endif

#endif
