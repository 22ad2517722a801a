// SPDX-License-Identifier: BSD-3-Clause
// The few machine operations that kernels and host threads share, under names that g++ and nvcc both compile.
#ifndef SHMEM_DETAIL_PORTABLE_H
#define SHMEM_DETAIL_PORTABLE_H

#include <stdint.h>

#if defined(__CUDACC__)
#define RAILSHMEM_HD __host__ __device__
#else
#define RAILSHMEM_HD
#endif

/// One copy in a unit, for code that is rare or big: kernels compile in a fraction of the time, and stay short.
#define RAILSHMEM_OUT_OF_LINE __attribute__((noinline))
/// How a function out of line takes a struct: by value. In the code for Triton by address, because Triton's LLVM
/// refuses calls with structs by value. Callers make a copy for the call: a variable whose address a call gets lives in
/// memory.
#if defined(RAILSHMEM_STRUCTS_BY_ADDRESS)
#define RAILSHMEM_STRUCT(T) const T&
#else
#define RAILSHMEM_STRUCT(T) T
#endif
/// For functions whose arguments are to stay in registers.
#define RAILSHMEM_INLINE __attribute__((always_inline))

/// For loops whose every turn is to have registers of its own.
#if defined(__CUDA_ARCH__)
#define RAILSHMEM_UNROLL _Pragma("unroll")
#define RAILSHMEM_NO_UNROLL _Pragma("unroll 1")
#else
#define RAILSHMEM_UNROLL
#define RAILSHMEM_NO_UNROLL
#endif

#if defined(__CUDACC_RTC__)
#define __builtin_memcpy memcpy  // NVRTC knows memcpy, but not by this name
#elif !defined(__CUDA_ARCH__)
#include <sched.h>
#include <time.h>
#endif

namespace railshmem {
#if defined(RAILSHMEM_EMULATION)
namespace emulation {
bool is_global(const void* address);
bool is_private(const void* address);
void fenced();              ///< a release_fence()
void pause(uint32_t turn);  ///< a turn of a loop that waits
}  // namespace emulation
#endif
namespace portable {

#if defined(RAILSHMEM_MODEL)
// tests/model runs this very code under a scheduler of its own: one turn of a thread per access.
void model_step();
void model_idle();
#else
RAILSHMEM_HD inline void model_step() {}
#endif

// Loads and stores have system scope: the partner may be a CPU, this GPU or another one. The host half uses compiler
// builtins because std::atomic_ref is C++20 and these headers must compile as C++17.

RAILSHMEM_HD inline uint64_t load_relaxed(const uint64_t* from) {
#if defined(__CUDA_ARCH__)
  uint64_t value;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
#else
  model_step();
  return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

RAILSHMEM_HD inline uint64_t load_acquire(const uint64_t* from) {
#if defined(__CUDA_ARCH__)
  uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
#else
  model_step();
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
#endif
}

/// Loads a number that only decides whether the thread may store; the thread's stores come after the load. A GPU begins
/// no store before the branch that the store depends on is decided, so there the load is relaxed: an acquire would
/// empty the cache, and loading its contents again takes ten times as long. Later loads are not ordered behind this
/// one.
RAILSHMEM_HD inline uint64_t load_to_store(const uint64_t* from) {
#if defined(__CUDA_ARCH__)
  return load_relaxed(from);
#else
  return load_acquire(from);
#endif
}

RAILSHMEM_HD inline void store_relaxed(uint64_t* to, uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
#else
  model_step();
  __atomic_store_n(to, value, __ATOMIC_RELAXED);
#endif
}

RAILSHMEM_HD inline void store_release(uint64_t* to, uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
#else
  model_step();
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
#endif
}

/// A release whose readers are threads of this GPU, also where they acquire for the system: it waits for less.
RAILSHMEM_HD inline void store_release_near(uint64_t* to, uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
#else
  store_release(to, value);
#endif
}

// Narrower words: what wait and test look at.
RAILSHMEM_HD inline uint32_t load_relaxed(const uint32_t* from) {
#if defined(__CUDA_ARCH__)
  uint32_t value;
  asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
#else
  model_step();
  return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

RAILSHMEM_HD inline uint32_t load_acquire(const uint32_t* from) {
#if defined(__CUDA_ARCH__)
  uint32_t value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
#else
  model_step();
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
#endif
}

RAILSHMEM_HD inline uint16_t load_relaxed(const uint16_t* from) {
#if defined(__CUDA_ARCH__)
  uint16_t value;
  asm volatile("ld.relaxed.sys.u16 %0, [%1];" : "=h"(value) : "l"(from) : "memory");
  return value;
#else
  model_step();
  return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

RAILSHMEM_HD inline uint16_t load_acquire(const uint16_t* from) {
#if defined(__CUDA_ARCH__)
  uint16_t value;
  asm volatile("ld.acquire.sys.u16 %0, [%1];" : "=h"(value) : "l"(from) : "memory");
  return value;
#else
  model_step();
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
#endif
}

RAILSHMEM_HD inline void store_relaxed(uint32_t* to, uint32_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
#else
  model_step();
  __atomic_store_n(to, value, __ATOMIC_RELAXED);
#endif
}

RAILSHMEM_HD inline void store_release(uint32_t* to, uint32_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
#else
  model_step();
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
#endif
}

/// Stores 16 bytes at a multiple of 16, to be loaded whole: a reader who sees the new `hi` sees the `lo` that came with
/// it. On the host the order of two stores gives this guarantee, so a reader of the new `lo` may see an old `hi`.
RAILSHMEM_HD inline void store_pair(uint64_t* to, uint64_t lo, uint64_t hi) {
#if defined(__CUDA_ARCH__)
  // One 16-byte access: the PTX memory model makes a .b128 access single-copy atomic; two 8-byte ones would not be.
  asm volatile("{\n\t.reg .b128 both;\n\tmov.b128 both, {%1, %2};\n\tst.relaxed.sys.b128 [%0], both;\n\t}" ::"l"(to),
               "l"(lo), "l"(hi)
               : "memory");
#else
  // relaxed: made visible by the release that follows.
  store_relaxed(to, lo);
  // release: pairs with the acquire of whoever reads hi; without it lo could arrive after hi.
  store_release(to + 1, hi);
#endif
}

RAILSHMEM_HD inline void load_pair(const uint64_t* from, uint64_t* lo, uint64_t* hi) {
#if defined(__CUDA_ARCH__)
  asm volatile("{\n\t.reg .b128 both;\n\tld.relaxed.sys.b128 both, [%2];\n\tmov.b128 {%0, %1}, both;\n\t}"
               : "=l"(*lo), "=l"(*hi)
               : "l"(from)
               : "memory");
#else
  // acquire: pairs with the release in store_pair(); without it lo could be older than hi.
  *hi = load_acquire(from + 1);
  *lo = load_relaxed(from);
#endif
}

/// Takes a word that is 0 when free; GPU scope there, so the word is in the GPU's memory.
RAILSHMEM_HD inline bool take(uint32_t* at) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(at, 0u, 1u) == 0;
#else
  model_step();
  uint32_t expected = 0;
  return __atomic_compare_exchange_n(at, &expected, 1u, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#endif
}

/// Whether a proxy and a NIC can use the address. They cannot use the stack and the shared memory of a kernel's
/// threads.
RAILSHMEM_HD inline bool is_global(const void* address) {
#if defined(__CUDA_ARCH__)
  return __isGlobal(address) != 0;
#elif defined(RAILSHMEM_EMULATION)
  return emulation::is_global(address);
#else
  return address != nullptr;
#endif
}

/// Whether the address is one of the calling thread's own variables, which no other thread can read.
RAILSHMEM_HD inline bool is_private(const void* address) {
#if defined(__CUDA_ARCH__)
  return __isLocal(address) != 0;
#elif defined(RAILSHMEM_EMULATION)
  return emulation::is_private(address);
#else
  (void)address;
  return false;
#endif
}

/// For counters shared by the threads of one GPU only (GPU scope there), such as a ring's head; never in shared memory.
RAILSHMEM_HD inline uint64_t fetch_add_relaxed(uint64_t* at, uint64_t operand) {
#if defined(__CUDA_ARCH__)
  uint64_t old;
  // Global by name: a generic address could be shared memory, and the branch that asks would wait for the result here.
  asm volatile(
      "{\n\t.reg .u64 global;\n\tcvta.to.global.u64 global, %1;\n\tatom.global.add.relaxed.gpu.u64 %0, [global], "
      "%2;\n\t}"
      : "=l"(old)
      : "l"(at), "l"(operand)
      : "memory");
  return old;
#else
  model_step();
  return __atomic_fetch_add(at, operand, __ATOMIC_RELAXED);
#endif
}

/// Stores `value` unless something is there already: the first reason stays.
RAILSHMEM_HD inline void set_once(uint64_t* at, uint64_t value) {
#if defined(__CUDA_ARCH__)
  // No compare-and-swap: the word may lie in host memory, and a GPU behind PCIe has no atomics there. When two reasons
  // come within a microsecond, either may stay; the word never goes back to 0.
  if (load_relaxed(at) == 0) store_release(at, value);
#else
  model_step();
  uint64_t empty = 0;
  __atomic_compare_exchange_n(at, &empty, value, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
#endif
}

/// Of a counter as fetch_add_relaxed() has them. Returns what it found: `expected` when it stored.
RAILSHMEM_HD inline uint64_t compare_swap_relaxed(uint64_t* at, uint64_t expected, uint64_t value) {
#if defined(__CUDA_ARCH__)
  uint64_t found;
  asm volatile(
      "{\n\t.reg .u64 global;\n\tcvta.to.global.u64 global, %1;\n\tatom.global.cas.relaxed.gpu.b64 %0, [global], "
      "%2, %3;\n\t}"
      : "=l"(found)
      : "l"(at), "l"(expected), "l"(value)
      : "memory");
  return found;
#else
  model_step();
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
#endif
}

#if !defined(__CUDA_ARCH__)
/// The doorbell's exchange, host threads only. Acquires and releases: see Channel::arm.
inline uint32_t exchange(uint32_t* at, uint32_t value) {
  model_step();
  return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL);
}
#endif

/// Orders everything this thread wrote before everything it writes next, for CPUs, GPUs and NICs.
RAILSHMEM_HD inline void release_fence() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
#if defined(RAILSHMEM_EMULATION)
  emulation::fenced();
#endif
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer knows no fences. Nothing is lost: every host store that follows one here is a release itself.
#else
  __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
#endif
}

/// Orders this thread's relaxed loads so far before everything that it, and threads that it meets, load next.
RAILSHMEM_HD inline void acquire_fence() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#elif !defined(__SANITIZE_THREAD__)  // whose host loads of pairs acquire by themselves
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/// A load in front of an acquire_fence(): of several loads only the last pays for the fence. A GPU begins no load
/// before a load that acquires has its value, so several of those take turns.
RAILSHMEM_HD inline uint64_t load_fenced(const uint64_t* from) {
#if defined(__CUDA_ARCH__)
  return load_relaxed(from);
#else
  return load_acquire(from);
#endif
}

/// A relaxed store behind a release_fence(): of several stores only the first pays for the fence.
RAILSHMEM_HD inline void store_fenced(uint64_t* to, uint64_t value) {
#if defined(__CUDA_ARCH__)
  store_relaxed(to, value);
#else
  store_release(to, value);
#endif
}

/// Orders loads as well as stores: what was written is visible to every thread that this thread tells of it, in any
/// way.
RAILSHMEM_HD inline void full_fence() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.sc.sys;" ::: "memory");
#elif !defined(__SANITIZE_THREAD__)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// Monotonic nanoseconds. The zero differs between host and GPU: a deadline is made and checked on one side.
RAILSHMEM_HD inline uint64_t clock_ns() {
#if defined(__CUDA_ARCH__)
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
#endif
}

/// One turn of a spin loop. On the host it yields the CPU soon.
RAILSHMEM_HD inline void relax(uint32_t turn) {
#if defined(__CUDA_ARCH__)
  if (turn >= 64) __nanosleep(32);  // the first turns stay fast, long waits leave the memory path to others
#elif defined(RAILSHMEM_MODEL)
  (void)turn;
  model_idle();
#elif defined(RAILSHMEM_EMULATION)
  emulation::pause(turn);
#else
  if (turn % 4 == 3) {
    sched_yield();
    return;
  }
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
#endif
}

}  // namespace portable
}  // namespace railshmem

#endif
