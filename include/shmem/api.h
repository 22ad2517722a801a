// SPDX-License-Identifier: BSD-3-Clause
//
// How a function list becomes declarations.
//
// Each family header names its functions once, in a list macro RAILSHMEM_x_FUNCTIONS(F) that calls
// F(RESULT, NAME, PARAMETERS...) per function, NAME without its prefix. F decides what comes out: the emitters below
// declare the shmem_ function or its pshmem_ twin. The library passes emitters of its own to these lists.
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

/// Declares a function of the library. NVRTC, which compiles kernels alone, takes no function of the host's.
#if defined(__CUDACC_RTC__)
#define RAILSHMEM_EXPORTED(...)
#else
#define RAILSHMEM_EXPORTED(...) RAILSHMEM_API __VA_ARGS__;
#endif

/// Emitters for the function lists.
#define RAILSHMEM_DECLARE(RESULT, NAME, ...) RAILSHMEM_EXPORTED(RESULT shmem_##NAME(__VA_ARGS__))
#define RAILSHMEM_DECLARE_PROFILED(RESULT, NAME, ...) RAILSHMEM_EXPORTED(RESULT pshmem_##NAME(__VA_ARGS__))

/// Emitter for functions that kernels can call too. In a CUDA unit their names are functions of C++ for both sides
/// (shmem/device/names), and the library's function is known there as railshmem_host_NAME; so in the emulation of whole
/// programs (2).
#if defined(__CUDACC__) || (defined(RAILSHMEM_EMULATION) && RAILSHMEM_EMULATION == 2)
#define RAILSHMEM_KERNEL_NAMES 1
#define RAILSHMEM_DECLARE_AS(SYMBOL, RESULT, NAME, ...) \
  RAILSHMEM_EXPORTED(RESULT railshmem_host_##NAME(__VA_ARGS__) __asm__(SYMBOL))
#define RAILSHMEM_DECLARE_BOTH(RESULT, NAME, ...) RAILSHMEM_DECLARE_AS("shmem_" #NAME, RESULT, NAME, __VA_ARGS__)
#define RAILSHMEM_DECLARE_EXTENSION_BOTH(RESULT, NAME, ...) \
  RAILSHMEM_DECLARE_AS("shmemx_" #NAME, RESULT, NAME, __VA_ARGS__)
#elif defined(RAILSHMEM_EMULATION)
#define RAILSHMEM_KERNEL_NAMES 1
#define RAILSHMEM_DECLARE_BOTH(...)
#define RAILSHMEM_DECLARE_EXTENSION_BOTH(...)
#else
#define RAILSHMEM_DECLARE_BOTH RAILSHMEM_DECLARE
#define RAILSHMEM_DECLARE_EXTENSION_BOTH RAILSHMEM_DECLARE_EXTENSION
#endif
#if defined(__CUDACC__)
#define RAILSHMEM_BOTH_SIDES __host__ __device__
#else
#define RAILSHMEM_BOTH_SIDES
#endif

/// Emitter for lists of extensions; RAILSHMEM_DECLARE_EXTENSION_BOTH is for those that kernels can call too.
#define RAILSHMEM_DECLARE_EXTENSION(RESULT, NAME, ...) RAILSHMEM_EXPORTED(RESULT shmemx_##NAME(__VA_ARGS__))

/// Emitters for the list of names that lack the shmem_ prefix.
#define RAILSHMEM_DECLARE_PLAIN(RESULT, NAME, ...) RAILSHMEM_EXPORTED(RESULT NAME(__VA_ARGS__))
#define RAILSHMEM_DECLARE_PLAIN_PROFILED(RESULT, NAME, ...) RAILSHMEM_EXPORTED(RESULT p##NAME(__VA_ARGS__))

/// Lists a function twice: on the default context, and as ctx_NAME with the context in front.
#define RAILSHMEM_CTX_PAIR(F, RESULT, NAME, ...) \
  F(RESULT, NAME, __VA_ARGS__)                   \
  F(RESULT, ctx_##NAME, shmem_ctx_t ctx, __VA_ARGS__)

#endif
