// SPDX-License-Identifier: BSD-3-Clause
//
// What the declarations of the API begin with.
#ifndef RAILSHMEM_SHMEM_API_H
#define RAILSHMEM_SHMEM_API_H

#ifdef __cplusplus
#define RAILSHMEM_BEGIN_C extern "C" {
#define RAILSHMEM_END_C }
#else
#define RAILSHMEM_BEGIN_C
#define RAILSHMEM_END_C
#endif

/// Marks what the library exports; everything else in it is hidden.
#define RAILSHMEM_API __attribute__((visibility("default")))

/// Marks functions that never return.
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define RAILSHMEM_NORETURN _Noreturn
#else
#define RAILSHMEM_NORETURN __attribute__((noreturn))
#endif

/// A compiler of CUDA reads a unit once for the host, and once for each kind of GPU (__CUDA_ARCH__). For the host, the
/// names that kernels can call are the library's functions, and those of kernels alone are declared only. For GPUs all
/// of them are functions of C++ that shmem/device/names defines. The emulation of kernels on the CPU reads once: whole
/// programs (2) have both, and there the library's function has a name of its own, railshmem_host_NAME; kernels alone
/// (1) have no library.
#if defined(__CUDACC__) || defined(RAILSHMEM_EMULATION)
#define RAILSHMEM_KERNEL_NAMES 1
#endif
#if defined(RAILSHMEM_KERNEL_NAMES) && !defined(RAILSHMEM_EMULATION)
#define RAILSHMEM_CUDA_NAMES 1
#endif
#if defined(RAILSHMEM_EMULATION)
#define RAILSHMEM_KERNEL_BODIES 1
#if RAILSHMEM_EMULATION == 2
#define RAILSHMEM_LIBRARY_SYMBOLS 1
#endif
#elif defined(__CUDACC__) && defined(__CUDA_ARCH__)
#define RAILSHMEM_KERNEL_BODIES 1
#elif defined(__CUDACC__)
#define RAILSHMEM_HOST_NAMES 1
#endif

#if defined(__CUDACC__)
#define RAILSHMEM_BOTH_SIDES __host__ __device__
#else
#define RAILSHMEM_BOTH_SIDES
#endif

/// nvcc looks into the bodies of templates only where a unit calls them, so that an empty kernel compiles in half the
/// time. For it the names are templates with a parameter that nobody gives; for others, editors among them, functions.
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#define RAILSHMEM_LAZY template <int kUnused = 0>
#else
#define RAILSHMEM_LAZY
#endif

/// Declares a function that kernels can call too, between RAILSHMEM_BEGIN_BOTH and RAILSHMEM_END_BOTH.
#if defined(RAILSHMEM_KERNEL_BODIES)
#define RAILSHMEM_BEGIN_BOTH
#define RAILSHMEM_END_BOTH
#define RAILSHMEM_BOTH inline
#else
#define RAILSHMEM_BEGIN_BOTH RAILSHMEM_BEGIN_C
#define RAILSHMEM_END_BOTH RAILSHMEM_END_C
#define RAILSHMEM_BOTH RAILSHMEM_API RAILSHMEM_BOTH_SIDES
#endif

/// Opens a C++ overload that only calls such a function.
#define RAILSHMEM_OVERLOAD RAILSHMEM_LAZY RAILSHMEM_BOTH_SIDES inline

#endif
