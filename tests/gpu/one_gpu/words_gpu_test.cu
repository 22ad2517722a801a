// SPDX-License-Identifier: BSD-3-Clause
// A word stored by a kernel lands in host memory whole: the ring's protocol stands on it (see Ring::peek).
#include <emmintrin.h>

#include "include/shmem/device/push.h"
#include "tests/gpu/one_gpu/gpu_support.h"

namespace railshmem::gpu_test {
namespace {

constexpr unsigned kBlocks = 4, kThreads = 128, kWords = kBlocks * kThreads;

enum class Stores : uint8_t { whole, halves };

/// Counts up in both halves of the thread's own word until the time is over.
__global__ void count_up(Word* words, Stores stores, uint64_t duration_ns, uint64_t* last) {
  Word* const mine = words + thread_index();
  const uint64_t began = portable::clock_ns();
  uint64_t i = 0;
  while (portable::clock_ns() - began < duration_ns) {
    for (int burst = 0; burst < 64; ++burst) {
      ++i;
      if (stores == Stores::whole) {
        portable::store_pair(&mine->lo, i, i);
      } else {
        portable::store_relaxed(&mine->hi, i);
        portable::store_relaxed(&mine->lo, i);
      }
    }
  }
  last[thread_index()] = i;
}

struct Seen {
  uint64_t looks = 0, changes = 0, torn = 0;
};

/// Three looks at a word: as one 16-byte load (atomic on every x86 with AVX), hi before lo as peek() does, and lo
/// before hi. The halves only grow, so the half read later must be the newer one.
void look(const Word& word, uint64_t& last, Seen& seen) {
  const __m128i both = _mm_load_si128(reinterpret_cast<const __m128i*>(&word));
  const auto lo = static_cast<uint64_t>(_mm_cvtsi128_si64(both));
  const auto hi = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(both, both)));
  const uint64_t hi_first = portable::load_acquire(&word.hi), lo_second = portable::load_acquire(&word.lo);
  const uint64_t lo_first = portable::load_acquire(&word.lo), hi_second = portable::load_acquire(&word.hi);
  seen.torn += lo != hi || lo_second < hi_first || hi_second < lo_first;
  seen.changes += lo != last;
  ++seen.looks;
  last = lo;
}

Seen watch(Stores stores) {
  Pinned<Word> words(kWords);
  Pinned<uint64_t> counted(kWords);
  uint64_t last[kWords] = {};
  Seen seen;
  cudaEvent_t done;
  CUDA_MUST(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  count_up<<<kBlocks, kThreads>>>(words.get(), stores, scaled(2 * kSecond), counted.get());
  CUDA_MUST(cudaEventRecord(done));
  while (cudaEventQuery(done) == cudaErrorNotReady) {
    for (int pass = 0; pass < 64; ++pass) {
      for (unsigned i = 0; i < kWords; ++i) look(words[i], last[i], seen);
    }
  }
  finish_kernel();
  CUDA_MUST(cudaEventDestroy(done));
  uint64_t stored = 0;
  for (unsigned i = 0; i < kWords; ++i) {
    GPU_CHECK(words[i].lo == counted[i] && words[i].hi == counted[i], "word %u is not the last one stored", i);
    stored += counted[i];
  }
  std::printf("words: %-14s %llu stored, %llu looks, %llu new values seen, %llu torn\n",
              stores == Stores::whole ? "one store" : "two stores", static_cast<unsigned long long>(stored),
              static_cast<unsigned long long>(seen.looks), static_cast<unsigned long long>(seen.changes),
              static_cast<unsigned long long>(seen.torn));
  return seen;
}

}  // namespace

void test_words() {
  const Seen whole = watch(Stores::whole);
  GPU_CHECK(whole.torn == 0, "a 16-byte store was seen half done");
  GPU_CHECK(small_counts || whole.changes > 2'000'000, "too few new values to conclude anything");
  watch(Stores::halves);  // no check: shows that the looks above do see halves
}

}  // namespace railshmem::gpu_test
