// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/gpu_rails.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/dma_buf.h"
#include "src/gpu/agreement.h"

namespace railshmem {
namespace {

struct Wish {
  uint8_t takes_extents;
};

const char* word_of(OfiHmemMode mode) noexcept {
  return mode == OfiHmemMode::hmem ? "hmem" : "dmabuf";
}

}  // namespace

FlushChoice GpuRails::flush_at_start(const Env& env, bool device_heap) {
  const bool open = device_heap && (env.ofi_hmem != OfiHmemMode::staging || env.test_reached_gpus);
  FlushChoice choice = choose_flush(open && env.flush == FlushMode::cuda ? FlushMode::automatic : env.flush, nullptr);
  if (open) choice.reason += "; where rails reach GPU memory, chosen anew with the GPU";
  return choice;
}

bool GpuRails::is_asked_for() const noexcept {
  return env_.ofi_hmem == OfiHmemMode::hmem || env_.ofi_hmem == OfiHmemMode::dmabuf;
}

GpuRails::GpuRails(const Env& env, Network& network, Bootstrap& bootstrap, DeviceMemory& memory, size_t flush_offset,
                   size_t pes_of_node)
    : env_(env),
      network_(network),
      bootstrap_(bootstrap),
      memory_(memory),
      flush_offset_(flush_offset),
      pes_of_node_(pes_of_node) {
  const auto wishes = take_step<Wish>(bootstrap_, [this] { return Wish{prepare()}; });
  if (const int pe = first_failure(wishes); pe >= 0)
    throw Error(text("PE %d: %s", pe, wishes[static_cast<size_t>(pe)].why));
  active_ = std::any_of(wishes.begin(), wishes.end(), [](const auto& wish) { return wish.value.takes_extents != 0; });
  expose();
  if (active_ && mine_) network_.use_flush(flush_, flush_offset_);
  if (!active_ || !mine_) flush_ = choose_flush(env_.flush, nullptr);  // which names a policy that only a GPU has
  std::string how = mine_ ? "rails reach it themselves; " + railshmem::describe(flush_) : why_not_;
  if (how.ends_with('\n')) how.pop_back();
  log_info("memory of %s: %s", memory_.gpu().description().c_str(), how.c_str());
}

/// Whether this PE's rails are to take its memory.
bool GpuRails::prepare() {
  why_not_ = "staged; SHMEM_INFO=1 says for each rail why";
  if (!network_.takes_extents()) return false;
  const cuda::DeviceContext& gpu = memory_.gpu();
  device_flush_ = std::make_unique<cuda::RdmaFlush>(gpu.driver(), gpu.device(), gpu.context());
  flush_ = choose_flush(env_.flush, &device_flush_->service());
  mine_ = flush_.policy == FlushPolicy::none || pes_of_node_ == 1;
  if (mine_) return true;
  // The data of a completed put must be visible to every PE that learns of the put from a PE of its node, by load and
  // store. No flush would run in between.
  why_not_ = text("staged: %s does not show by itself what NICs wrote, and there are %zu PEs on the node",
                  gpu.description().c_str(), pes_of_node_);
  if (is_asked_for())
    throw Error(
        text("SHMEM_OFI_HMEM is %s, but %s does not show by itself what NICs wrote, and there are %zu PEs on the "
             "node; set it to auto or staging, or SHMEM_NODE_SIZE to 1",
             word_of(env_.ofi_hmem), gpu.description().c_str(), pes_of_node_));
  return false;
}

std::vector<std::byte> GpuRails::expose(DeviceExtent& extent) {
  if (!mine_) return {};
  try {
    if (env_.ofi_hmem != OfiHmemMode::hmem) {
      dma_bufs_.push_back(cuda::dma_buf_of(memory_.gpu(), extent.base, extent.nbytes));
      extent.dma_buf_fd = dma_bufs_.back().get();
    }
    return network_.expose(extent);
  } catch (const std::exception& error) {
    why_not_ = text("%zu bytes are staged, because rails do not take them: %s", extent.nbytes, error.what());
    if (is_asked_for())
      log_error("SHMEM_OFI_HMEM is %s: %s", word_of(env_.ofi_hmem), why_not_.c_str());
    else
      log_warn("memory of %s: %s", memory_.gpu().description().c_str(), why_not_.c_str());
    if (exposed_.size() == 1) mine_ = false;  // none of it, then
    return {};
  }
}

void GpuRails::expose() {
  if (!active_) return;
  for (const DeviceMemory::Chunk& chunk : memory_.chunks()) {
    if (std::find(exposed_.begin(), exposed_.end(), chunk.at) != exposed_.end()) continue;
    exposed_.push_back(chunk.at);
    DeviceExtent extent{chunk.at, memory_.base() + chunk.at, chunk.nbytes, memory_.gpu().device(), -1};
    const std::vector<std::vector<std::byte>> descriptors = exchange_bytes(bootstrap_, expose(extent));
    const auto missing =
        std::find_if(descriptors.begin(), descriptors.end(), [](const auto& descriptor) { return descriptor.empty(); });
    if (is_asked_for() && missing != descriptors.end())
      throw Error(
          text("SHMEM_OFI_HMEM is %s, but rails do not take GPU memory of PE %d, whose messages say why; set it "
               "to auto or staging",
               word_of(env_.ofi_hmem), static_cast<int>(missing - descriptors.begin())));
    const bool none =
        std::all_of(descriptors.begin(), descriptors.end(), [](const auto& descriptor) { return descriptor.empty(); });
    if (none && exposed_.size() == 1) active_ = false;
    if (!active_) return;
    take_together(bootstrap_, [&] { network_.learn(extent, descriptors); });
  }
}

std::string GpuRails::describe() const {
  return railshmem::describe(flush_);
}

}  // namespace railshmem
