// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/symmetric_buffers.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/gpu/agreement.h"

namespace railshmem {
namespace {

struct Extent {
  uint64_t nbytes = 0;  ///< of the buffer
  uint64_t offset = 0;  ///< in the memory behind it
  uint64_t whole = 0;   ///< of that memory
};

std::vector<std::byte> bytes_of(const std::vector<cuda::ChunkCard>& cards) {
  const auto bytes = std::as_bytes(std::span(cards));
  return {bytes.begin(), bytes.end()};
}

cuda::ChunkCard card_in(const std::vector<std::byte>& bytes, size_t index) {
  cuda::ChunkCard card;
  std::memcpy(&card, bytes.data() + index * sizeof card, sizeof card);
  return card;
}

}  // namespace

/// Looks at this PE's buffer and compares with the others'.
cuda::UserMemory SymmetricBuffers::agree(void* address, size_t nbytes, size_t* window_nbytes) {
  cuda::UserMemory mine;
  const auto steps = take_step<Extent>(bootstrap_, [&] {
    if (memory_.contains(address)) throw Error(text("%p is symmetric already", address));
    mine = cuda::find_user_memory(memory_.gpu(), address, nbytes, shares());
    return Extent{nbytes, mine.offset, mine.nbytes};
  });
  require_all(steps);
  const Extent& first = steps.front().value;
  for (size_t pe = 0; pe < steps.size(); ++pe) {
    const Extent& other = steps[pe].value;
    *window_nbytes = std::max<size_t>(*window_nbytes, other.whole);
    if (other.nbytes == first.nbytes && other.offset == first.offset) continue;
    throw Error(
        text("PE 0 brings %llu bytes that begin %llu bytes into their allocation, PE %zu %llu bytes at %llu; buffers "
             "must be alike on all PEs",
             static_cast<unsigned long long>(first.nbytes), static_cast<unsigned long long>(first.offset), pe,
             static_cast<unsigned long long>(other.nbytes), static_cast<unsigned long long>(other.offset)));
  }
  return mine;
}

std::byte* SymmetricBuffers::add(void* address, size_t nbytes) {
  Buffer buffer;
  buffer.nbytes = nbytes;
  size_t whole = 0;
  const cuda::UserMemory mine = agree(address, nbytes, &whole);
  const auto at = window_.allocate(whole, cuda::DeviceArena::kAlign);
  if (!at)
    throw Error(
        text("%zu bytes do not fit beside the %zu bytes of buffers registered so far; raise "
             "SHMEM_DEVICE_HEAP_MAX, which is %zu here",
             whole, window_.bytes_used(), memory_.limit()));
  buffer.at = *at;
  buffer.symmetric = memory_.base() + memory_.limit() + buffer.at + mine.offset;
  try {
    map(buffer, mine);
    buffers_.push_back(buffer);
  } catch (...) {
    drop(buffer);
    throw;
  }
  log_debug("%zu bytes at %p are symmetric at %p", nbytes, address, static_cast<void*>(buffer.symmetric));
  return buffer.symmetric;
}

/// This PE's memory in its own slot, then, when all have done so, the node's in theirs.
void SymmetricBuffers::map(Buffer& buffer, const cuda::UserMemory& mine) {
  cuda::DeviceArena& arena = memory_.arena();
  const size_t begin = memory_.limit() + buffer.at;
  std::vector<FdOffer> offered;  // until the peers have taken them
  std::vector<cuda::ChunkCard> cards;
  require_all(take_step<NoValue>(bootstrap_, [&] {
    size_t at = begin;
    for (const cuda::PhysicalMemory& extent : mine.extents) {
      buffer.mappings.reserve(buffer.mappings.size() + 1);
      arena.map_own(my_slot(), at, extent);
      buffer.mappings.push_back({my_slot(), at});
      cuda::ChunkCard card{at, extent.nbytes(), memory_.gpu().uuid(), {}};
      if (shares()) {
        offered.push_back(memory_.offers().offer(extent.export_fd()));
        card.fd = offered.back().ticket();
      }
      cards.push_back(card);
      at += extent.nbytes();
    }
    return NoValue{};
  }));
  const std::vector<std::vector<std::byte>> theirs = exchange_bytes(bootstrap_, bytes_of(cards));
  require_all(take_step<NoValue>(bootstrap_, [&] {
    for (size_t slot = 0; slot < layout_.members.size() && shares(); ++slot) {
      if (slot == my_slot()) continue;
      const int pe = layout_.members[slot];
      const std::vector<std::byte>& bytes = theirs[static_cast<size_t>(pe)];
      for (size_t i = 0; i < bytes.size() / sizeof(cuda::ChunkCard); ++i) {
        const cuda::ChunkCard card = card_in(bytes, i);
        const UniqueFd fd = take_fd(card.fd);
        const auto extent = cuda::PhysicalMemory::import(memory_.gpu(), fd.get(), card.nbytes, text("PE %d", pe));
        buffer.mappings.reserve(buffer.mappings.size() + 1);
        arena.map_peer(slot, card.at, extent);
        buffer.mappings.push_back({slot, card.at});
      }
    }
    return NoValue{};
  }));
}

void SymmetricBuffers::drop(Buffer& buffer) noexcept {
  for (const Mapping& mapping : buffer.mappings) {
    try {
      memory_.arena().unmap(mapping.slot, mapping.at);
    } catch (const std::exception& error) {
      log_error("a registered buffer: %s", error.what());
    }
  }
  window_.release(buffer.at);
}

void SymmetricBuffers::remove(const std::byte* symmetric, size_t nbytes) {
  auto found = buffers_.end();
  require_all(take_step<NoValue>(bootstrap_, [&] {
    found = std::find_if(buffers_.begin(), buffers_.end(),
                         [symmetric](const Buffer& buffer) { return buffer.symmetric == symmetric; });
    if (found == buffers_.end())
      throw Error(text("%p was not returned by shmemx_buffer_register_symmetric, or is unregistered already",
                       static_cast<const void*>(symmetric)));
    if (found->nbytes != nbytes)
      throw Error(text("the buffer at %p was registered with %zu bytes, not %zu", static_cast<const void*>(symmetric),
                       found->nbytes, nbytes));
    return NoValue{};
  }));
  drop(*found);
  buffers_.erase(found);
}

}  // namespace railshmem
