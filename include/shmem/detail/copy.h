// SPDX-License-Identifier: BSD-3-Clause
// Copies by load and store, by the threads of a scope together.
//
// The time of a load limits such a copy, so a thread asks for several vectors before it stores the first one. Behind an
// unaligned edge, vectors are as wide as both addresses allow.
#ifndef SHMEM_DETAIL_COPY_H
#define SHMEM_DETAIL_COPY_H

#include <stdint.h>
#include <string.h>

#include "shmem/detail/portable.h"

namespace railshmem {

/// Loads in flight by thread. Eight of 16 bytes are 32 registers: a kernel of 1024 threads has 64 for each.
inline constexpr int kCopyUnroll = 8;

namespace copying {

// May alias anything: they carry bytes of the program's objects.
struct __attribute__((may_alias, aligned(16))) Bytes16 {
  uint64_t lo, hi;
};
typedef uint64_t __attribute__((may_alias)) Bytes8;
typedef uint32_t __attribute__((may_alias)) Bytes4;
typedef uint16_t __attribute__((may_alias)) Bytes2;
typedef unsigned char Bytes1;

template <class V>
RAILSHMEM_HD inline V load(const V* from) {
  return *from;
}
template <class V>
RAILSHMEM_HD inline void store(V* to, V value) {
  *to = value;
}
#if defined(__CUDA_ARCH__)
// By name, because a struct of two words is not reliably one access.
template <>
RAILSHMEM_HD inline Bytes16 load(const Bytes16* from) {
  const ulonglong2 both = *reinterpret_cast<const ulonglong2*>(from);
  return {both.x, both.y};
}
template <>
RAILSHMEM_HD inline void store(Bytes16* to, Bytes16 value) {
  *reinterpret_cast<ulonglong2*>(to) = ulonglong2{value.lo, value.hi};
}
#endif

/// kCount vectors of this thread, `size` apart: all loads before the first store.
template <class V, int kCount>
RAILSHMEM_HD inline void batch(uint32_t size, V* to, const V* from) {
  V held[kCount];
  RAILSHMEM_UNROLL
  for (int i = 0; i < kCount; ++i) held[i] = load(from + static_cast<uint64_t>(i) * size);
  RAILSHMEM_UNROLL
  for (int i = 0; i < kCount; ++i) store(to + static_cast<uint64_t>(i) * size, held[i]);
}

/// Copies less than twice kCount vectors of this thread: kCount, then half as many, ... Predicated loads would need one
/// round only, but they would hold all their registers from the function's start.
template <class V, int kCount>
RAILSHMEM_HD inline void rest(uint32_t size, V* to, const V* from, uint64_t at, uint64_t n) {
  if (at + static_cast<uint64_t>(kCount - 1) * size < n) {
    batch<V, kCount>(size, to + at, from + at);
    at += static_cast<uint64_t>(kCount) * size;
  }
  if constexpr (kCount > 1) rest<V, kCount / 2>(size, to, from, at, n);
}

/// `n` vectors, thread `rank` of `size` taking every size-th.
template <class V, int kUnroll>
RAILSHMEM_HD inline void vectors(uint32_t rank, uint32_t size, V* to, const V* from, uint64_t n) {
  const uint64_t turn = static_cast<uint64_t>(kUnroll) * size;
  uint64_t at = rank;
  RAILSHMEM_NO_UNROLL
  for (; at + (turn - size) < n; at += turn) batch<V, kUnroll>(size, to + at, from + at);
  if constexpr (kUnroll > 1) rest<V, kUnroll / 2>(size, to, from, at, n);
}

/// Copies fewer bytes than a vector of kBytes, next to a multiple of kBytes: the bytes end there, with kAtEnd they
/// start there. One access for each bit of the count, from small to large or back, so that each access is aligned.
template <bool kAtEnd, int kBytes>
RAILSHMEM_HD inline void edge(unsigned char* to, const unsigned char* from, uint32_t nbytes) {
  Bytes8 eight = 0;
  Bytes4 four = 0;
  Bytes2 two = 0;
  Bytes1 one = 0;
  const auto at = [nbytes](uint32_t bit) { return kAtEnd ? nbytes & ~(2 * bit - 1) : nbytes & (bit - 1); };
  if (kBytes > 1 && (nbytes & 1) != 0) one = from[at(1)];
  if (kBytes > 2 && (nbytes & 2) != 0) two = *reinterpret_cast<const Bytes2*>(from + at(2));
  if (kBytes > 4 && (nbytes & 4) != 0) four = *reinterpret_cast<const Bytes4*>(from + at(4));
  if (kBytes > 8 && (nbytes & 8) != 0) eight = *reinterpret_cast<const Bytes8*>(from + at(8));
  if (kBytes > 1 && (nbytes & 1) != 0) to[at(1)] = one;
  if (kBytes > 2 && (nbytes & 2) != 0) *reinterpret_cast<Bytes2*>(to + at(2)) = two;
  if (kBytes > 4 && (nbytes & 4) != 0) *reinterpret_cast<Bytes4*>(to + at(4)) = four;
  if (kBytes > 8 && (nbytes & 8) != 0) *reinterpret_cast<Bytes8*>(to + at(8)) = eight;
}

template <class V>
RAILSHMEM_HD inline void move(unsigned char* to, const unsigned char* from) {
  store(reinterpret_cast<V*>(to), load(reinterpret_cast<const V*>(from)));
}

/// Copies less than 16 bytes. Mostly this is one value of the program, which is then one access.
RAILSHMEM_HD inline void few(unsigned char* to, const unsigned char* from, uint32_t nbytes) {
  RAILSHMEM_NO_UNROLL
  while (nbytes > 0) {
    const auto both = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from));
    uint32_t step = 1;
    if ((both & 7) == 0 && nbytes >= 8) {
      move<Bytes8>(to, from);
      step = 8;
    } else if ((both & 3) == 0 && nbytes >= 4) {
      move<Bytes4>(to, from);
      step = 4;
    } else if ((both & 1) == 0 && nbytes >= 2) {
      move<Bytes2>(to, from);
      step = 2;
    } else {
      *to = *from;
    }
    to += step;
    from += step;
    nbytes -= step;
  }
}

/// Copies at least 16 bytes, as vectors of type V, between addresses that are equally far behind a multiple of
/// sizeof(V).
template <class V, int kUnroll>
RAILSHMEM_HD inline void aligned(uint32_t rank, uint32_t size, unsigned char* to, const unsigned char* from,
                                 uint64_t nbytes) {
  constexpr uint32_t kBytes = sizeof(V);
  const uint32_t head = static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(to)) & (kBytes - 1);
  const uint64_t n = (nbytes - head) / kBytes;
  const uint32_t tail = static_cast<uint32_t>((nbytes - head) & (kBytes - 1));
  const uint64_t behind = head + n * kBytes;
  // Both edges first: the values that the second edge needs would take registers from the vectors.
  if (rank == 0) edge<false, kBytes>(to, from, head);
  if (rank == size - 1) edge<true, kBytes>(to + behind, from + behind, tail);
  vectors<V, kUnroll>(rank, size, reinterpret_cast<V*>(to + head), reinterpret_cast<const V*>(from + head), n);
}

}  // namespace copying

/// Copies between places that do not overlap, as thread `rank` of `size`; all of them call. On return the calling
/// thread's share has been issued. This function is big, so its callers below are out of line, once in a unit.
template <int kUnroll>
RAILSHMEM_HD inline void copy_share(uint32_t rank, uint32_t size, void* to, const void* from, uint64_t nbytes) {
  auto* const out = static_cast<unsigned char*>(to);
  auto* const in = static_cast<const unsigned char*>(from);
  if (nbytes < 16) {
    if (rank == 0) copying::few(out, in, static_cast<uint32_t>(nbytes));
    return;
  }
  const uint32_t apart = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) ^ reinterpret_cast<uintptr_t>(from));
  if ((apart & 15) == 0) {
    copying::aligned<copying::Bytes16, kUnroll>(rank, size, out, in, nbytes);
  } else if ((apart & 7) == 0) {
    copying::aligned<copying::Bytes8, kUnroll>(rank, size, out, in, nbytes);
  } else if ((apart & 3) == 0) {
    copying::aligned<copying::Bytes4, kUnroll>(rank, size, out, in, nbytes);
  } else if ((apart & 1) == 0) {
    copying::aligned<copying::Bytes2, kUnroll>(rank, size, out, in, nbytes);
  } else {
    copying::aligned<copying::Bytes1, kUnroll>(rank, size, out, in, nbytes);
  }
}

/// copy_share() between places that are equally far behind a multiple of 16. Takes fewer registers.
template <int kUnroll>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void copy_alike(uint32_t rank, uint32_t size, void* to, const void* from,
                                                          uint64_t nbytes) {
  auto* const out = static_cast<unsigned char*>(to);
  auto* const in = static_cast<const unsigned char*>(from);
  if (nbytes >= 16) {
    copying::aligned<copying::Bytes16, kUnroll>(rank, size, out, in, nbytes);
  } else if (rank == 0) {
    copying::few(out, in, static_cast<uint32_t>(nbytes));
  }
}

/// Copies all bytes by the calling thread.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void copy_any_bytes(void* to, const void* from, uint64_t nbytes) {
#if !defined(__CUDA_ARCH__) && !defined(RAILSHMEM_EMULATION)
  memcpy(to, from, nbytes);
#else
  copy_share<kCopyUnroll>(0, 1, to, from, nbytes);
#endif
}

/// copy_any_bytes(), but the most frequent copy, of one aligned word, takes no call.
RAILSHMEM_HD inline void copy_bytes(void* to, const void* from, uint64_t nbytes) {
  const uintptr_t both = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
  if (nbytes == 8 && (both & 7) == 0) {
    copying::move<copying::Bytes8>(static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from));
  } else {
    copy_any_bytes(to, from, nbytes);
  }
}

/// Copies this thread's share of a copy that several threads make together. A block needs few loads in each thread to
/// have enough of them in flight, and its kernels have the fewest registers to spare.
template <int kUnroll>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void copy_together(uint32_t rank, uint32_t size, void* to, const void* from,
                                                             uint64_t nbytes) {
  copy_share<kUnroll>(rank, size, to, from, nbytes);
}

/// copy_together(), but up to two aligned vectors of each thread take no call: in copies that short the call would
/// show.
template <int kUnroll>
RAILSHMEM_HD inline void copy_shared(uint32_t rank, uint32_t size, void* to, const void* from, uint64_t nbytes) {
  using copying::Bytes16;
  const uint64_t all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | nbytes;
  if ((all & 15) != 0 || nbytes > uint64_t{2} * sizeof(Bytes16) * size) {
    copy_together<kUnroll>(rank, size, to, from, nbytes);
    return;
  }
  auto* const out = static_cast<Bytes16*>(to) + rank;
  auto* const in = static_cast<const Bytes16*>(from) + rank;
  const auto n = static_cast<uint32_t>(nbytes / sizeof(Bytes16));
  const bool first = rank < n, second = rank + size < n;
  Bytes16 a{0, 0}, b{0, 0};
  if (first) a = copying::load(in);
  if (second) b = copying::load(in + size);
  if (first) copying::store(out, a);
  if (second) copying::store(out + size, b);
}

/// copy_shared() for many warps: threads without a share return at once, because a multiprocessor's 32 warps take turns
/// at computing addresses.
template <int kUnroll>
RAILSHMEM_HD inline void copy_by_many(uint32_t rank, uint32_t size, void* to, const void* from, uint64_t nbytes) {
  using copying::Bytes16;
  const uint64_t all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | nbytes;
  if ((all & 15) != 0 || nbytes > uint64_t{2} * sizeof(Bytes16) * size) {
    if (nbytes >= 16) return copy_together<kUnroll>(rank, size, to, from, nbytes);
    if (rank == 0) copy_bytes(to, from, nbytes);
    return;
  }
  const auto n = static_cast<uint32_t>(nbytes / sizeof(Bytes16));
  if (rank >= n) return;
  auto* const out = static_cast<Bytes16*>(to) + rank;
  auto* const in = static_cast<const Bytes16*>(from) + rank;
  const bool second = rank + size < n;
  Bytes16 b{0, 0};
  const Bytes16 a = copying::load(in);
  if (second) b = copying::load(in + size);
  copying::store(out, a);
  if (second) copying::store(out + size, b);
}

namespace copying {

RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline uint64_t load_bytes(const void* from, uint64_t nbytes) {
  const auto* const in = static_cast<const unsigned char*>(from);
  uint64_t value = 0;
  for (uint64_t i = 0; i < nbytes; ++i) value |= static_cast<uint64_t>(in[i]) << (8 * i);
  return value;
}
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void store_bytes(void* to, uint64_t value, uint64_t nbytes) {
  auto* const out = static_cast<unsigned char*>(to);
  for (uint64_t i = 0; i < nbytes; ++i) out[i] = static_cast<unsigned char>(value >> (8 * i));
}

}  // namespace copying

/// Returns up to 8 bytes as a value. Low bytes come first in memory, as on every machine we run on.
RAILSHMEM_HD inline uint64_t load_value(const void* from, uint64_t nbytes) {
  const bool whole = nbytes == 8 && (reinterpret_cast<uintptr_t>(from) & 7) == 0;
  return whole ? *static_cast<const copying::Bytes8*>(from) : copying::load_bytes(from, nbytes);
}
RAILSHMEM_HD inline void store_value(void* to, uint64_t value, uint64_t nbytes) {
  if (nbytes == 8 && (reinterpret_cast<uintptr_t>(to) & 7) == 0) {
    *static_cast<copying::Bytes8*>(to) = value;
  } else {
    copying::store_bytes(to, value, nbytes);
  }
}

}  // namespace railshmem

#endif
