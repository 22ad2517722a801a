// SPDX-License-Identifier: BSD-3-Clause
// Puts of every size by every scope, in a job of the real library: see payload_kernels.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/world.h"

namespace railshmem::device_heap {

constexpr int kPutBlocks = 3;
constexpr size_t kPutRoom = size_t{80} << 10;  ///< bytes for each block

enum class PutScope { thread, warp, block };
enum class PutCall { put_signal, put_nbi, put, of_own_variable };

/// Symmetric memory: kPutRoom bytes for each block, and two words for each block.
struct PutMemory {
  unsigned char *source, *dest;
  uint64_t* signals;
};

/// Every block sends to `right` what the same block of `left` sends here. Returns 0, or the line of the first failure.
int exchange(const WorldView& world, const PutMemory& m, PutScope scope, PutCall call, int left, int right,
             uint64_t first_number);
/// Every block gets from `right` what the same block there has in m.source, of each size. Returns 0, or the line of the
/// first failure. All PEs have filled theirs before.
int get_all(const WorldView& world, const PutMemory& m, PutScope scope, int right);
/// Fills m.source for get_all().
void fill_for_gets(const PutMemory& m, int me);
/// How many numbers exchange() uses.
uint64_t numbers_of_exchange();

/// Puts to `pe` without an end.
int put_for_ever(const WorldView& world, const PutMemory& m, int pe);

}  // namespace railshmem::device_heap
