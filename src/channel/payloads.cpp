// SPDX-License-Identifier: BSD-3-Clause
#include "src/channel/payloads.h"

#include "include/shmem/detail/portable.h"

namespace railshmem {

Payloads::Payloads(const PayloadMemory& memory, uint64_t* freed)
    : pools_{Pool(PayloadSize::small, memory.slots, kLog2SmallPayloads),
             Pool(PayloadSize::large, memory.slots + PayloadMemory::large_offset(), memory.log2_large)},
      gets_(memory.slots + PayloadMemory::gets_offset(memory.log2_large)),
      producer_(memory.producer),
      freed_(freed) {}

std::byte* Payloads::data(uint64_t name, uint64_t shift, uint64_t nbytes) const noexcept {
  const Pool& pool = pools_[pool_of(name)];
  const uint64_t number = number_of(name), stride = payload_stride(pool.size);
  const uint64_t count = uint64_t{1} << pool.log2_slots;
  if (number >= count || shift >= kPayloadAlign || nbytes == 0) return nullptr;
  const uint64_t slots = pool.size == PayloadSize::small ? 1 : count - number;  // small ones are taken one by one
  if (nbytes > slots * payload_nbytes(pool.size)) return nullptr;
  return pool.slots + number * stride + shift;
}

std::byte* Payloads::get_place(uint64_t number, uint64_t shift, uint64_t nbytes) const noexcept {
  if (number >= kGetSlots || shift >= kPayloadAlign || nbytes == 0 || nbytes > kLargePayload) return nullptr;
  return gets_ + number * payload_stride(PayloadSize::large) + shift;
}

uint32_t Payloads::hold_of(uint64_t name, uint64_t nbytes) noexcept {
  const PayloadSize size = pool_of(name) == 0 ? PayloadSize::small : PayloadSize::large;
  return static_cast<uint32_t>((name + 1) | (slots_of(size, nbytes) - 1) << kHoldBits);
}

void Payloads::free(uint32_t hold) noexcept {
  const uint64_t name = (hold & ((1u << kHoldBits) - 1)) - 1;
  Watermark& freed = pools_[pool_of(name)].freed;
  // Of the slots that may be taken just now, one has this number.
  const uint64_t mask = (uint64_t{1} << pools_[pool_of(name)].log2_slots) - 1;
  const uint64_t first = freed.prefix() + ((number_of(name) - freed.prefix()) & mask);
  for (uint64_t slot = first; slot <= first + (hold >> kHoldBits); ++slot) freed.complete(slot);
}

void Payloads::publish() noexcept {
  for (size_t i = 0; i < pools_.size(); ++i) {
    Pool& pool = pools_[i];
    if (pool.published == pool.freed.prefix()) continue;
    pool.published = pool.freed.prefix();
    // release: pairs with the acquire in wait_for_room(); without it the producer's next stores into the slot could be
    // seen by whoever still reads the old data.
    portable::store_release(freed_ + i, pool.published);
  }
}

void Payloads::add_to(ChannelView& view) const noexcept {
  for (size_t i = 0; i < pools_.size(); ++i)
    view.payloads[i] = {reinterpret_cast<unsigned char*>(pools_[i].slots), producer_->head + i,
                        producer_->freed_seen + i, freed_ + i, pools_[i].log2_slots};
  view.gets = {reinterpret_cast<unsigned char*>(gets_), producer_->gets_taken};
}

}  // namespace railshmem
