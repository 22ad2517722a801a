// SPDX-License-Identifier: BSD-3-Clause
// The pieces of a PE's symmetric memory, as they are numbered in commands and on the wire.
#ifndef SHMEM_DETAIL_SEGMENT_H
#define SHMEM_DETAIL_SEGMENT_H

#include <stdint.h>

namespace railshmem {

/// All PEs have the same set of segments. `device` is a heap in a GPU's memory, beside the heap in host memory.
enum class SegmentId : uint8_t { heap, data, device };
inline constexpr int kSegments = 3;

}  // namespace railshmem

#endif
