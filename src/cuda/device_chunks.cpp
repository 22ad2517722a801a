// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/device_chunks.h"

#include <algorithm>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem::cuda {

ChunkCard DeviceChunks::grow(size_t nbytes) {
  const size_t at = begin_ + this->nbytes();
  const size_t rounded = align_up(std::max<size_t>(nbytes, 1), gpu_.capabilities().granularity);
  if (const size_t room = arena_.stride() - at; nbytes > room || rounded > room)
    throw Error(
        text("no room for %zu bytes more of device heap: %zu of %zu bytes are in use; raise "
             "SHMEM_SYMMETRIC_SIZE",
             nbytes, at, arena_.stride()));
  own_.reserve(own_.size() + 1);
  offered_.reserve(offered_.size() + 1);
  PhysicalMemory memory = PhysicalMemory::create(gpu_, rounded);
  FdOffer offer = offers_.offer(memory.export_fd());
  const ChunkCard card{at, rounded, gpu_.uuid(), offer.ticket()};
  arena_.map_own(my_slot_, at, memory);
  offered_.push_back(std::move(offer));
  own_.push_back({at, std::move(memory)});
  log_debug("device heap: chunk %zu of %zu bytes on %s%s%s", own_.size() - 1, rounded, gpu_.description().c_str(),
            own_.back().memory.rdma_capable() ? ", for GPUDirect RDMA" : "",
            own_.back().memory.has_fabric_handle() ? ", with a fabric handle" : "");
  return card;
}

void DeviceChunks::take_back(const ChunkCard& card) {
  if (own_.empty() || own_.back().at != card.at)
    throw Error(
        text("the chunk at %llu is not the last one of this device heap", static_cast<unsigned long long>(card.at)));
  arena_.unmap(my_slot_, card.at);
  own_.pop_back();
  std::erase_if(offered_, [&](const FdOffer& offer) { return offer.ticket().key == card.fd.key; });
}

void DeviceChunks::import(size_t slot, const ChunkCard& card) {
  if (slot >= imported_.size() || slot == my_slot_)
    throw Error(text("slot %zu of %zu is no peer's", slot, imported_.size()));
  const size_t known = begin_ + imported_[slot];
  if (card.at + card.nbytes <= known) return;
  if (card.at != known)
    throw Error(text("the device heap of the PE of slot %zu has a gap: it is known up to %zu, and now a chunk at %llu",
                     slot, known, static_cast<unsigned long long>(card.at)));
  const UniqueFd fd = take_fd(card.fd);
  const PhysicalMemory memory = PhysicalMemory::import(gpu_, fd.get(), card.nbytes, text("the PE of slot %zu", slot));
  arena_.map_peer(slot, card.at, memory);  // the mapping keeps the memory; nothing else is needed of it
  imported_[slot] += card.nbytes;
}

std::string DeviceChunks::unreachable(const Uuid& device) const {
  const std::vector<LocalDevice> devices = local_devices(gpu_.driver());
  const std::optional<Device> owner = find_device(devices, device);
  // A GPU that CUDA_VISIBLE_DEVICES hides can be used through imported memory; the import will tell.
  if (!owner || can_reach(gpu_.driver(), gpu_.device(), *owner)) return {};
  return text(
      "%s does not reach the memory of GPU %d of this process's numbering (no NVLink, and no PCIe path that "
      "the driver allows)",
      gpu_.description().c_str(), *owner);
}

}  // namespace railshmem::cuda
