// SPDX-License-Identifier: BSD-3-Clause
// How a name of the standard becomes one function for host and kernels. For CUDA units only.
//
// PARAMETERS and ARGUMENTS are in parentheses. On the host the function calls the library, in a kernel it is CALL.
#ifndef SHMEM_DEVICE_NAMES_DEFINE_H
#define SHMEM_DEVICE_NAMES_DEFINE_H

#include "shmem/api.h"

#define RAILSHMEM_BARE(...) __VA_ARGS__

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/device/call.h"
#include "shmem/lists.h"

#if defined(__CUDACC__)
#define RAILSHMEM_KERNEL __device__
#else
#define RAILSHMEM_KERNEL
#endif

#if defined(RAILSHMEM_EMULATION) && RAILSHMEM_EMULATION == 2
#define RAILSHMEM_SIDE(NAME, ARGUMENTS, CALL) \
  (railshmem::emulation::in_kernel() ? (CALL) : (railshmem_host_##NAME ARGUMENTS))
#elif defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
#define RAILSHMEM_SIDE(NAME, ARGUMENTS, CALL) CALL
#else
#define RAILSHMEM_SIDE(NAME, ARGUMENTS, CALL) railshmem_host_##NAME ARGUMENTS
#endif

#define RAILSHMEM_BOTH(R, NAME, PARAMETERS, ARGUMENTS, CALL) \
  RAILSHMEM_BOTH_SIDES inline R shmem_##NAME PARAMETERS {    \
    return RAILSHMEM_SIDE(NAME, ARGUMENTS, CALL);            \
  }

/// An extension for both.
#define RAILSHMEM_BOTH_EXTENSION(R, NAME, PARAMETERS, ARGUMENTS, CALL) \
  RAILSHMEM_BOTH_SIDES inline R shmemx_##NAME PARAMETERS {             \
    return RAILSHMEM_SIDE(NAME, ARGUMENTS, CALL);                      \
  }

/// RAILSHMEM_BOTH twice: on the default context, and as ctx_NAME. CALL is the function of kernels; it takes the context
/// first.
#define RAILSHMEM_BOTH_CTX(R, NAME, PARAMETERS, ARGUMENTS, CALL)                                               \
  RAILSHMEM_BOTH(R, NAME, PARAMETERS, ARGUMENTS, (CALL(SHMEM_CTX_DEFAULT, RAILSHMEM_BARE ARGUMENTS)))          \
  RAILSHMEM_BOTH(R, ctx_##NAME, (shmem_ctx_t ctx, RAILSHMEM_BARE PARAMETERS), (ctx, RAILSHMEM_BARE ARGUMENTS), \
                 (CALL(ctx, RAILSHMEM_BARE ARGUMENTS)))

/// Extensions that only kernels have: shmemx_NAME, and shmemx_ctx_NAME.
#define RAILSHMEM_ONLY_KERNEL(R, NAME, PARAMETERS, CALL) \
  RAILSHMEM_KERNEL inline R shmemx_##NAME PARAMETERS {   \
    return CALL;                                         \
  }
#define RAILSHMEM_ONLY_KERNEL_CTX(R, NAME, PARAMETERS, ARGUMENTS, CALL)                           \
  RAILSHMEM_ONLY_KERNEL(R, NAME, PARAMETERS, (CALL(SHMEM_CTX_DEFAULT, RAILSHMEM_BARE ARGUMENTS))) \
  RAILSHMEM_ONLY_KERNEL(R, ctx_##NAME, (shmem_ctx_t ctx, RAILSHMEM_BARE PARAMETERS),              \
                        (CALL(ctx, RAILSHMEM_BARE ARGUMENTS)))

namespace railshmem {
namespace device {

/// Sizes of elements by their type's name. Not sizeof in the functions: compilers of kernels warn of long double, which
/// is a double there in all but its memory.
enum ElementBytes : size_t {
#define RAILSHMEM_BYTES(A, N, T) bytes_of_##N = sizeof(T),
  RAILSHMEM_RMA_TYPES(RAILSHMEM_BYTES, )
#undef RAILSHMEM_BYTES
};

}  // namespace device
}  // namespace railshmem

#endif

#endif
