// SPDX-License-Identifier: BSD-3-Clause
// Slots of pinned host memory through which the data of kernels goes where no NIC reaches the GPU's memory: kernels
// store what they put, and read what they get.
#ifndef SHMEM_DETAIL_PAYLOAD_H
#define SHMEM_DETAIL_PAYLOAD_H

#include <stdint.h>

#include <type_traits>

#include "shmem/detail/portable.h"

namespace railshmem {

/// A count of the consumer's as one of the producers read it last, which spares the other producers a read across PCIe.
struct Seen {
  uint64_t count;
  uint64_t looking;  ///< not 0: a thread that waits reads the consumer's count and stores it here (wait.h)
};

/// small: for any scope; each lane of a warp may take one at once. large: for warps and blocks.
enum class PayloadSize : uint8_t { small, large };
inline constexpr int kPayloadSizes = 2;

/// Bytes of data that a slot holds. A thread alone stores 1 KiB in the time that a copy engine takes; a warp, 16 KiB.
inline constexpr uint64_t kSmallPayload = 1024;
inline constexpr uint64_t kLargePayload = 16 << 10;
RAILSHMEM_HD constexpr uint64_t payload_nbytes(PayloadSize size) {
  return size == PayloadSize::small ? kSmallPayload : kLargePayload;
}

/// Data begins as many bytes behind a multiple of 16 as its source does, so that threads copy whole vectors.
inline constexpr uint64_t kPayloadAlign = 16;
/// From one slot to the next: room for the shift, and slots begin at a cache line.
RAILSHMEM_HD constexpr uint64_t payload_stride(PayloadSize size) {
  return payload_nbytes(size) + 64;
}

/// Small slots of a ring. More than a warp has lanes: the lanes of a warp take theirs together, all or none.
inline constexpr uint32_t kLog2SmallPayloads = 6;
inline constexpr uint32_t kSmallPayloads = 1u << kLog2SmallPayloads;
/// The most that SHMEM_DEVICE_PAYLOADS gives a ring of the large ones.
inline constexpr uint32_t kMostLargePayloads = 1024;

/// How a command names a slot: small ones first.
RAILSHMEM_HD constexpr uint64_t payload_name(PayloadSize size, uint64_t number) {
  return size == PayloadSize::small ? number : kSmallPayloads + number;
}

/// Slots of a ring for what kernels get, each of payload_nbytes(PayloadSize::large).
inline constexpr uint32_t kGetSlots = 8;

/// Written by producers: GPU memory when they run there. Two cache lines.
struct alignas(64) PayloadLine {
  uint64_t head[kPayloadSizes];  ///< slots taken so far: slot t of these is number t modulo the count
  Seen freed_seen[kPayloadSizes];
  uint32_t gets_taken[kGetSlots];  ///< 0: the slot is free
};
static_assert(sizeof(PayloadLine) == 128, "two lines");

/// The slots of one size that belong to one ring. They are taken, and handed back, in a circle.
struct PayloadView {
  unsigned char* slots = nullptr;  ///< null: no slots
  uint64_t* head = nullptr;
  Seen* freed_seen = nullptr;
  const uint64_t* freed = nullptr;  ///< slots taken before this one may be written again
  uint32_t log2_slots = 0;
};
/// The slots of one ring for what kernels get. Their owners take and free them in GPU memory; the proxy knows them only
/// by their commands.
struct GetSlots {
  unsigned char* slots = nullptr;  ///< null: no slots
  uint32_t* taken = nullptr;
};
static_assert(std::is_trivially_copyable<PayloadView>::value && std::is_standard_layout<PayloadView>::value,
              "goes to the GPU");

}  // namespace railshmem

#endif
