// SPDX-License-Identifier: BSD-3-Clause
// Pseudo-random numbers and contents that every PE can compute for every other.
#pragma once

#include <cstdint>

namespace railshmem::multi {

__host__ __device__ inline uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// A sequence of numbers; its seed, round and name determine it.
class Random {
 public:
  __host__ __device__ Random(uint64_t seed, uint64_t round, uint64_t who)
      : state_(mix(seed + mix(round + mix(who + 0x5eed)))) {}
  __host__ __device__ uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  __host__ __device__ int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  /// 1 to `most`, small ones as often as big ones.
  __host__ __device__ int size(int most) {
    int bits = 0;
    while (1 << (bits + 1) <= most) ++bits;
    const int n = 1 + below(1 << below(bits + 1));
    return n < most ? n : most;
  }

 private:
  uint64_t state_;
};

/// Byte i of a PE's constant memory.
__host__ __device__ inline unsigned char pattern_byte(int pe, int i) {
  return static_cast<unsigned char>(mix((static_cast<uint64_t>(pe) << 32) + i / 8 + 1) >> i % 8 * 8);
}

/// Element i of what a PE gives to a collective.
__host__ __device__ inline uint64_t element(int pe, int i, uint64_t number) {
  return mix((static_cast<uint64_t>(pe) << 40) + static_cast<uint64_t>(i)) ^ number;
}

}  // namespace railshmem::multi
