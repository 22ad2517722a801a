// SPDX-License-Identifier: BSD-3-Clause
// Which threads make one call together.
#ifndef SHMEM_DEVICE_SCOPE_H
#define SHMEM_DEVICE_SCOPE_H

#include <stdint.h>

#include "shmem/detail/device_control.h"
#include "shmem/detail/payload.h"
#include "shmem/detail/threads.h"

namespace railshmem {
namespace device {

/// The calling thread alone.
struct ThreadScope {
  static constexpr int kCopyUnroll = 4;    ///< loads in flight, into a payload slot
  static constexpr int kSpreadUnroll = 8;  ///< vectors in flight by thread that go to all members
  /// Blocks of at most this many bytes for each member travel as packets. Beyond, stores and a synchronisation are
  /// faster.
  static constexpr uint64_t kPacketBytes = 128;
  static constexpr uint64_t kReducePacketBytes = 256;  ///< for reductions: without packets they synchronise twice
  // Puts of at most kPayloads slots of kPayloadSize are stored by the threads where NICs do not read the GPU's memory.
  // Copy engines are faster beyond: they move 16 KiB in 7 us, and a thread 1 KiB in 3.
  static constexpr PayloadSize kPayloadSize = PayloadSize::small;
  static constexpr uint32_t kPayloads = 1;
  /// The longest get that goes by a slot, from which the threads read. Copy engines are faster beyond.
  static constexpr uint64_t kGetBytes = 256;
  RAILSHMEM_HD static constexpr uint32_t rank() { return 0; }
  RAILSHMEM_HD static constexpr uint32_t size() { return 1; }
  RAILSHMEM_HD static constexpr bool leads() { return true; }
  RAILSHMEM_HD static void sync() {}
  RAILSHMEM_HD static uint32_t from_leader(uint32_t word, uint32_t) { return word; }
};

/// All threads of a warp; all pass equal arguments.
struct WarpScope {
  static constexpr int kCopyUnroll = 8;  ///< loads in flight by thread
  static constexpr int kSpreadUnroll = 4;
  static constexpr uint64_t kPacketBytes = 512;
  static constexpr uint64_t kReducePacketBytes = DeviceControlLayout::kPacketBytes;
  static constexpr PayloadSize kPayloadSize = PayloadSize::large;
  static constexpr uint32_t kPayloads = 1;
  static constexpr uint64_t kGetBytes = 4096;
  RAILSHMEM_HD static uint32_t rank() { return threads::lane(); }
  RAILSHMEM_HD static uint32_t size() { return threads::warp_size(); }
  RAILSHMEM_HD static bool leads() { return rank() == 0; }
  RAILSHMEM_HD static void sync() { threads::sync_warp(); }
  /// What the leading thread passes; the others' words do not count. `most`: no word is greater.
  RAILSHMEM_HD static uint32_t from_leader(uint32_t word, uint32_t) { return threads::from_first_of_warp(word); }
};

/// All threads of a block; all pass equal arguments.
struct BlockScope {
  static constexpr int kCopyUnroll = 4;  ///< loads in flight by thread
  static constexpr int kSpreadUnroll = 4;
  static constexpr uint64_t kPacketBytes = DeviceControlLayout::kPacketBytes;
  static constexpr uint64_t kReducePacketBytes = DeviceControlLayout::kPacketBytes;
  static constexpr PayloadSize kPayloadSize = PayloadSize::large;
  static constexpr uint32_t kPayloads = 4;
  static constexpr uint64_t kGetBytes = kLargePayload;
  RAILSHMEM_HD static uint32_t rank() { return threads::rank_in_block(); }
  RAILSHMEM_HD static uint32_t size() { return threads::block_size(); }
  RAILSHMEM_HD static bool leads() { return rank() == 0; }
  RAILSHMEM_HD static void sync() { threads::sync_block(); }
  RAILSHMEM_HD static uint32_t from_leader(uint32_t word, uint32_t most) {
    return threads::from_first_of_block(word, most);
  }
};

}  // namespace device
}  // namespace railshmem

#endif
