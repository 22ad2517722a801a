// SPDX-License-Identifier: BSD-3-Clause
// Copies by load and store, by one thread.
#ifndef SHMEM_DETAIL_COPY_H
#define SHMEM_DETAIL_COPY_H

#include <stdint.h>
#include <string.h>

#include "shmem/detail/portable.h"

namespace railshmem {

/// Copies between places that do not overlap.
RAILSHMEM_HD inline void copy_bytes(void* to, const void* from, uint64_t nbytes) {
#if defined(__CUDA_ARCH__)
  auto* out = static_cast<unsigned char*>(to);
  auto* in = static_cast<const unsigned char*>(from);
  // 16 bytes a turn where both sides allow it: NVLink packets are filled by wide stores only.
  if (((reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in)) & 15) == 0) {
    for (; nbytes >= 16; nbytes -= 16, out += 16, in += 16) {
      *reinterpret_cast<uint4*>(out) = *reinterpret_cast<const uint4*>(in);
    }
  }
  for (; nbytes > 0; --nbytes) *out++ = *in++;
#else
  memcpy(to, from, nbytes);
#endif
}

/// Up to 8 bytes as a value, low bytes first in memory as on every machine we run on.
RAILSHMEM_HD inline uint64_t load_value(const void* from, uint64_t nbytes) {
  uint64_t value = 0;
  copy_bytes(&value, from, nbytes);
  return value;
}

}  // namespace railshmem

#endif
