// SPDX-License-Identifier: BSD-3-Clause
// What the programs of this folder share: payloads that say when they were written, seeds, clocks and error counting.
#pragma once

#include <shmem.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace rails {

/// A bijection in which every bit of the input reaches every bit of the output (the finalizer of splitmix64).
inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A number that names one payload: who wrote it, where, the how manieth.
inline uint64_t stamp_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d = 0) {
  return mix(mix(mix(mix(a + 1) + b) + c) + d);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(mix(seed + 1)) {}
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  uint64_t below(uint64_t n) { return next() % n; }
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

constexpr uint64_t kStride = 0x9e3779b97f4a7c15u;

/// Word i of a payload is stamp + i * kStride: no two words of one payload, and no two payloads at one place, agree.
inline void fill(void* at, size_t bytes, uint64_t stamp) {
  auto* out = static_cast<unsigned char*>(at);
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t word = stamp + i / 8 * kStride;
    memcpy(out + i, &word, bytes - i < 8 ? bytes - i : 8);
  }
}

/// Where a payload breaks first, or `bytes`.
inline size_t broken_at(const void* at, size_t bytes, uint64_t stamp) {
  const auto* in = static_cast<const unsigned char*>(at);
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t word = stamp + i / 8 * kStride;
    if (memcmp(in + i, &word, bytes - i < 8 ? bytes - i : 8) != 0) return i;
  }
  return bytes;
}

inline double seconds_now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Mistakes found by this PE. The first few are told; the exit status tells all.
class Mistakes {
 public:
  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    constexpr unsigned long kShown = 10;
    if (++count_ > kShown) return;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("PE %d: WRONG: %s\n", shmem_my_pe(), text);
    fflush(stdout);
  }
  unsigned long count() const { return count_; }

 private:
  unsigned long count_ = 0;
};

/// Symmetric memory of n objects, zeroed; the job ends if none exists. Freed by shmem_finalize.
template <class T>
T* symmetric(size_t n) {
  auto* block = static_cast<T*>(shmem_calloc(n, sizeof(T)));
  if (block) return block;
  fprintf(stderr, "no symmetric memory for %zu bytes; raise SHMEM_SYMMETRIC_SIZE\n", n * sizeof(T));
  shmem_global_exit(1);
}

/// The value of "--name value" on the command line, or `fallback`.
/// Null: not given.
inline const char* text_option(int argc, char** argv, const char* name) {
  for (int i = 1; i + 1 < argc; ++i)
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  return nullptr;
}
inline double option(int argc, char** argv, const char* name, double fallback) {
  const char* const value = text_option(argc, argv, name);
  return value ? strtod(value, nullptr) : fallback;
}

/// A program that hangs is ended by an alarm (SIGALRM kills it), a good while after its time is over.
inline void limit_seconds(double planned) {
  alarm(static_cast<unsigned>(planned) + 60);
}

}  // namespace rails
