// SPDX-License-Identifier: BSD-3-Clause
#include "src/channel/memory.h"

#include <cstdlib>
#include <cstring>

#include "src/base/error.h"

namespace railshmem {

ChannelMemory host_channel_memory(uint32_t log2_slots) {
  // 20: a ring of 64 MiB is a mistake, not a setting.
  if (log2_slots > 20) throw Error(text("command ring of 2^%u slots; at most 2^20", log2_slots));
  const size_t slots_nbytes = sizeof(Slot) << log2_slots;
  const size_t nbytes = slots_nbytes + sizeof(ProducerLine) + sizeof(ConsumerLine);
  void* block = std::aligned_alloc(alignof(Slot), nbytes);
  if (block == nullptr) throw Error(text("no memory for a command ring of %zu bytes", nbytes));
  std::memset(block, 0, nbytes);
  auto* slots = static_cast<Slot*>(block);
  auto* producer = reinterpret_cast<ProducerLine*>(slots + (size_t{1} << log2_slots));
  auto* consumer = reinterpret_cast<ConsumerLine*>(producer + 1);
  return {{block, std::free}, {nullptr, std::free}, {nullptr, std::free}, slots, producer, consumer, log2_slots};
}

}  // namespace railshmem
