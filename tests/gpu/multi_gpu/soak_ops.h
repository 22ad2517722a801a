// SPDX-License-Identifier: BSD-3-Clause
// What kernels of the soak do: operations of random kind, scope, size and place, each checked by the PE that sees its
// effect.
//
// All PEs draw equal numbers, so in each operation block b of every PE works on the PE that is `step` further and knows
// what the PE `step` before does to it. Every pair of a block and a source has places of its own at the target.
#pragma once

#include "tests/gpu/multi_gpu/gpu_pes.h"
#include "tests/gpu/multi_gpu/soak_random.h"

namespace railshmem::multi {

constexpr int kPatternBytes = 1 << 17;
constexpr int kBoxBytes = (1 << 15) + 64;  // a put of 32 KiB, anywhere
constexpr int kSums = 8;

enum Kind { kPutGet, kPutGetNbi, kPutSignal, kPutSignalAdd, kGet, kValue, kAtomics, kSumming, kCollective, kKinds };
enum Scope { kThread, kWarp, kBlock };

/// The most that a scope moves at once, and the elements of its collectives.
__host__ __device__ constexpr int most_bytes(Scope scope) {
  return scope == kBlock ? 1 << 15 : scope == kWarp ? 1 << 13 : 1 << 10;
}
__host__ __device__ constexpr int most_words(Scope scope) {
  return scope == kBlock ? 1024 : scope == kWarp ? 256 : 32;
}

struct Soak {
  int me, npes, ops;
  uint64_t seed;
  Findings* findings;
  // Symmetric. "pair" is block * npes + source PE.
  unsigned char* pattern;                                  // never changes
  unsigned char* box;                                      // [pair][kBoxBytes]: where puts arrive
  unsigned char* back;                                     // [block][kBoxBytes]: where gets arrive
  uint64_t *signal, *acknowledged, *added, *value, *word;  // [pair]
  uint64_t* sum;                                           // [kSums]: everybody adds
  uint64_t *given, *taken;                                 // of collectives
  // This PE's own.
  uint64_t *expected_word, *expected_added;            // [block][target or source]
  unsigned long long *expected_sum, *counts, *nbytes;  // [kSums], [kKinds], [kKinds]
};

/// One call by the threads of a scope; then the block meets.
#define BY_SCOPE(SCOPE, NAME, ...)                             \
  do {                                                         \
    if ((SCOPE) == kBlock) {                                   \
      shmemx_##NAME##_block(__VA_ARGS__);                      \
    } else if ((SCOPE) == kWarp) {                             \
      if (threadIdx.x < 32) shmemx_##NAME##_warp(__VA_ARGS__); \
    } else if (threadIdx.x == 0) {                             \
      shmem_##NAME(__VA_ARGS__);                               \
    }                                                          \
    __syncthreads();                                           \
  } while (false)

/// The block's operations so far are complete.
__device__ inline void complete_block() {
  __syncthreads();
  if (threadIdx.x == 0) shmem_quiet();
  __syncthreads();
}

__device__ inline void expect_pattern(Findings* findings, const unsigned char* seen, int pe, int from, int nbytes) {
  for (int i = threadIdx.x; i < nbytes; i += blockDim.x) EXPECT_EQ(seen[i], pattern_byte(pe, from + i));
  __syncthreads();
}

/// One operation as all PEs draw it.
struct Draw {
  __device__ Draw(Random* random, int npes)
      : scope(static_cast<Scope>(random->below(3))),
        step(random->below(npes)),
        nbytes(random->size(most_bytes(scope))),
        from(random->below(kPatternBytes - nbytes)),
        shift(random->below(64)),
        operand(random->next()) {}
  Scope scope;
  int step, nbytes, from, shift;
  uint64_t operand;
};

/// Puts, completes, gets back.
__device__ inline void put_and_get(const Soak& s, const Draw& draw, int target, bool nbi) {
  unsigned char* const box = s.box + static_cast<size_t>(blockIdx.x * s.npes + s.me) * kBoxBytes + draw.shift;
  unsigned char* const back = s.back + static_cast<size_t>(blockIdx.x) * kBoxBytes + draw.shift;
  if (nbi) {
    const int half = draw.nbytes / 2;
    BY_SCOPE(draw.scope, putmem_nbi, box, s.pattern + draw.from, half, target);
    BY_SCOPE(draw.scope, putmem_nbi, box + half, s.pattern + draw.from + half, draw.nbytes - half, target);
    complete_block();
    BY_SCOPE(draw.scope, getmem_nbi, back, box, draw.nbytes, target);
    complete_block();
  } else {
    BY_SCOPE(draw.scope, putmem, box, s.pattern + draw.from, draw.nbytes, target);
    complete_block();
    BY_SCOPE(draw.scope, getmem, back, box, draw.nbytes, target);
  }
  expect_pattern(s.findings, back, s.me, draw.from, draw.nbytes);
}

/// Puts with a signal; who gets it looks at the data and answers.
__device__ inline void put_signal(const Soak& s, const Draw& draw, int target, int source, uint64_t number, bool add) {
  Findings* const findings = s.findings;
  const int mine = blockIdx.x * s.npes + s.me, theirs = blockIdx.x * s.npes + source;
  unsigned char* const box = s.box + static_cast<size_t>(mine) * kBoxBytes + draw.shift;
  const uint64_t value = add ? 1 + draw.operand % 1000 : number;
  BY_SCOPE(draw.scope, putmem_signal_nbi, box, s.pattern + draw.from, draw.nbytes, (add ? s.added : s.signal) + mine,
           value, add ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, target);
  if (threadIdx.x == 0) {
    if (add) {
      s.expected_added[theirs] += value;
      EXPECT_EQ(shmem_signal_wait_until(&s.added[theirs], SHMEM_CMP_GE, s.expected_added[theirs]),
                s.expected_added[theirs]);
    } else {
      EXPECT_EQ(shmem_signal_wait_until(&s.signal[theirs], SHMEM_CMP_GE, number), number);
    }
  }
  __syncthreads();
  expect_pattern(findings, s.box + static_cast<size_t>(theirs) * kBoxBytes + draw.shift, source, draw.from,
                 draw.nbytes);
  if (threadIdx.x == 0) {
    // The target's word for data from me is at its place `me`, as all its words.
    shmem_signal_set(&s.acknowledged[mine], number, source);
    shmem_signal_wait_until(&s.acknowledged[blockIdx.x * s.npes + target], SHMEM_CMP_GE, number);
  }
  __syncthreads();
}

/// On a word that only this block of this PE changes, so that every result is known. By one thread.
__device__ inline void change_word(const Soak& s, const Draw& draw, int target) {
  Findings* const findings = s.findings;
  uint64_t* const word = &s.word[blockIdx.x * s.npes + s.me];
  uint64_t* const expected = &s.expected_word[blockIdx.x * s.npes + target];
  const uint64_t before = *expected, operand = draw.operand;
  switch (draw.shift % 7) {
    case 0:
      EXPECT_EQ(shmem_uint64_atomic_fetch_add(word, operand, target), before);
      *expected = before + operand;
      break;
    case 1:
      EXPECT_EQ(shmem_uint64_atomic_swap(word, operand, target), before);
      *expected = operand;
      break;
    case 2:
      EXPECT_EQ(shmem_uint64_atomic_compare_swap(word, before, operand, target), before);
      *expected = operand;
      break;
    case 3:
      EXPECT_EQ(shmem_uint64_atomic_compare_swap(word, before + 1, operand, target), before);
      break;
    case 4:
      EXPECT_EQ(shmem_uint64_atomic_fetch_xor(word, operand, target), before);
      *expected = before ^ operand;
      break;
    case 5:
      EXPECT_EQ(shmem_uint64_atomic_fetch_inc(word, target), before);
      *expected = before + 1;
      break;
    default:
      shmem_uint64_atomic_set(word, operand, target);
      shmem_quiet();
      *expected = operand;
  }
  EXPECT_EQ(shmem_uint64_atomic_fetch(word, target), *expected);
}

/// One warp adds to few words, which all other PEs add to. All PEs add equal operands to a PE's word.
__device__ inline void add_with_all(const Soak& s, const Draw& draw, int target) {
  const int at = draw.shift % kSums;
  const uint64_t operand = draw.operand % 1000;
  if (threadIdx.x >= 32) return;
  if (threadIdx.x % 2 == 0)
    shmem_uint64_atomic_add(&s.sum[at], operand, target);
  else
    shmem_signal_add(&s.sum[at], operand, target);
  atomicAdd(&s.expected_sum[at], operand);
}

}  // namespace railshmem::multi
