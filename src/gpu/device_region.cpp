// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/device_region.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/gpu/agreement.h"

namespace railshmem {

void DeviceRegion::attach(const cuda::DeviceContext& gpu, cuda::DeviceArena& arena, FdOffers& offers) {
  chunks_.emplace(gpu, arena, static_cast<size_t>(layout_.my_slot), offers, range_.begin);
}

bool DeviceRegion::grow_to(size_t end) {
  const size_t have = chunks_->nbytes();
  if (end <= have) return true;
  const size_t missing = end - have;
  const size_t generous = std::min(std::max({missing, range_.least_chunk, have / 2}), range_.nbytes - have);
  return grow_by(generous) || (generous > missing && grow_by(missing));
}

bool DeviceRegion::grow_by(size_t nbytes) {
  const auto cards = take_step<cuda::ChunkCard>(bootstrap_, [&] { return chunks_->grow(nbytes); });
  const auto me = static_cast<size_t>(bootstrap_.pe());
  if (const int pe = first_failure(cards); pe >= 0) {
    refusal_ = text("PE %d: %s", pe, cards[static_cast<size_t>(pe)].why);
    log_info("the device heap stays at %zu bytes: %s", chunks_->nbytes(), refusal_.c_str());
    if (cards[me].ok()) chunks_->take_back(cards[me].value);
    return false;
  }
  const auto imports = take_step<NoValue>(bootstrap_, [&] {
    for (size_t slot = 0; slot < layout_.members.size() && shared_; ++slot) {
      const auto pe = static_cast<size_t>(layout_.members[slot]);
      if (pe != me) chunks_->import(slot, cards[pe].value);
    }
    return NoValue{};
  });
  chunks_->close_offers();
  if (const int pe = first_failure(imports); pe >= 0)
    throw Error(text("PE %d cannot map the device heaps of its node: %s", pe, imports[static_cast<size_t>(pe)].why));
  return true;
}

std::optional<size_t> DeviceRegion::allocate(size_t nbytes, size_t align) {
  const auto at = offsets_.allocate(nbytes, align);
  if (!at) return {};
  bool grown = false;
  try {
    grown = grow_to(*at + offsets_.size_of(*at));
  } catch (...) {
    offsets_.release(*at);
    throw;
  }
  if (grown) return range_.begin + *at;
  offsets_.release(*at);
  return {};
}

bool DeviceRegion::try_resize(size_t offset, size_t nbytes) {
  const size_t at = offset - range_.begin;
  const size_t had = offsets_.size_of(at);
  if (had == 0 || nbytes == 0 || !offsets_.try_resize(at, nbytes)) return false;
  if (grow_to(at + offsets_.size_of(at))) return true;
  offsets_.try_resize(at, had);
  return false;
}

}  // namespace railshmem
