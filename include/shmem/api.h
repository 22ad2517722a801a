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

/// In a CUDA unit the names that kernels can call are functions of C++ for both sides (shmem/device/names), and the
/// library's function has a name of its own there, railshmem_host_NAME. So it is in the emulation of whole programs on
/// the CPU (2); the emulation of kernels alone (1) has no library.
#if defined(__CUDACC__) || defined(RAILSHMEM_EMULATION)
#define RAILSHMEM_KERNEL_NAMES 1
#if !defined(__CUDACC_RTC__) && !(defined(RAILSHMEM_EMULATION) && RAILSHMEM_EMULATION == 1)
#define RAILSHMEM_LIBRARY_SYMBOLS 1
#endif
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
#define RAILSHMEM_LAZY_BODY template <int kUnused>
#else
#define RAILSHMEM_LAZY
#define RAILSHMEM_LAZY_BODY
#endif

/// Declares a function that kernels can call too, between RAILSHMEM_BEGIN_BOTH and RAILSHMEM_END_BOTH.
#if defined(RAILSHMEM_KERNEL_NAMES)
#define RAILSHMEM_BEGIN_BOTH
#define RAILSHMEM_END_BOTH
#define RAILSHMEM_BOTH RAILSHMEM_LAZY RAILSHMEM_BOTH_SIDES inline
#else
#define RAILSHMEM_BEGIN_BOTH RAILSHMEM_BEGIN_C
#define RAILSHMEM_END_BOTH RAILSHMEM_END_C
#define RAILSHMEM_BOTH RAILSHMEM_API
#endif

/// Opens a C++ overload that only calls such a function.
#if defined(RAILSHMEM_KERNEL_NAMES)
#define RAILSHMEM_OVERLOAD RAILSHMEM_LAZY RAILSHMEM_BOTH_SIDES inline
#else
#define RAILSHMEM_OVERLOAD inline
#endif

#endif
