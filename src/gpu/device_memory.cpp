// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/device_memory.h"

#include <algorithm>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/quantity.h"
#include "src/cuda/local_devices.h"
#include "src/gpu/agreement.h"

namespace railshmem {
namespace {

// Chunks are large, hence few: peers map every chunk, and NCCL registers every chunk as a window of its own.
constexpr size_t kLeastChunk = size_t{64} << 20;

}  // namespace

DeviceMemory::DeviceMemory(const cuda::Driver& driver, Bootstrap& bootstrap, const NodeLayout& layout,
                           const DeviceMemoryConfig& config)
    : driver_(driver),
      bootstrap_(bootstrap),
      layout_(layout),
      config_(config),
      arena_(driver, layout.members.size(), cuda::DeviceArena::stride_for(nbytes())),
      heap_(bootstrap, layout, {0, config.limit, kLeastChunk}),
      declared_(bootstrap, layout, {declared_offset(), config.limit, cuda::DeviceArena::kAlign}) {
  if (config.header_nbytes > 0 && !heap_.reserve(config.header_nbytes))
    throw Error(
        text("a device heap of %zu bytes has no room for the %zu bytes that the library needs; raise "
             "SHMEM_SYMMETRIC_SIZE",
             config.limit, config.header_nbytes));
}

DeviceMemory::~DeviceMemory() = default;

void DeviceMemory::attach() {
  const auto steps = take_step<cuda::Uuid>(bootstrap_, [&] {
    gpu_ = std::make_unique<cuda::DeviceContext>(choose_gpu());
    arena_.attach(*gpu_);
    heap_.attach(*gpu_, arena_, offers_);
    declared_.attach(*gpu_, arena_, offers_);
    copies_ = std::make_unique<cuda::DeviceCopies>(*gpu_);
    return gpu_->uuid();
  });
  if (const int pe = first_failure(steps); pe >= 0)
    throw Error(text("PE %d has no GPU for the symmetric heap: %s", pe, steps[static_cast<size_t>(pe)].why));
  for (const auto& step : steps) gpu_of_pe_.push_back(step.value);
  agree_on_reach(gpu_of_pe_);
  heap_.share(reaches_node_);
  declared_.share(reaches_node_);
  if (!heap_.grow_to(std::max<size_t>(config_.header_nbytes, 1)))
    throw Error(text("no memory is left for a symmetric heap: %s", heap_.refusal().c_str()));
  take_together(bootstrap_, [&] { copies_->fill(base(), 0, config_.zero_nbytes); });  // on all PEs
}

void DeviceMemory::work_beside_program() noexcept {
  try {
    beside_ = std::make_unique<cuda::DeviceContext>(cuda::DeviceContext::beside(*gpu_));
  } catch (const std::exception& error) {
    log_info(
        "the library has no context of its own on this GPU: %s; synchronize a stream before cudaFree and before copies "
        "that block on the default stream, where collectives or puts over the network are under way",
        error.what());
  }
}

/// The GPU that the program has made current. Where none is current, the PEs of a host take the GPUs in turn, and the
/// program works with that GPU too.
cuda::DeviceContext DeviceMemory::choose_gpu() const {
  if (cuda::DeviceContext::is_current(driver_)) return cuda::DeviceContext::current(driver_);
  const std::vector<cuda::LocalDevice> devices = cuda::local_devices(driver_);
  const cuda::LocalDevice& mine = devices[config_.host_slot % devices.size()];
  cuda::DeviceContext gpu = cuda::DeviceContext::primary(driver_, mine.device);
  gpu.check(driver_.set_context(gpu.context()), "cuCtxSetCurrent");
  log_info("no GPU was chosen (cudaSetDevice): using %s", mine.description.c_str());
  return gpu;
}

void DeviceMemory::agree_on_reach(const std::vector<cuda::Uuid>& devices) {
  std::string why;
  int whose = -1;
  for (const int pe : layout_.members) {
    if (pe == bootstrap_.pe() || !why.empty()) continue;
    why = heap_.chunks().unreachable(devices[static_cast<size_t>(pe)]);
    whose = pe;
  }
  if (!why.empty())
    log_warn("the device heap of PE %d on this host cannot be mapped: %s; kernels of this node use the network instead",
             whose, why.c_str());
  const std::vector<uint8_t> reaches = exchange(bootstrap_, static_cast<uint8_t>(why.empty()));
  // All PEs of the node must agree on who reaches whom: one gap, and only the network connects the whole node.
  reaches_node_ = std::all_of(layout_.members.begin(), layout_.members.end(),
                              [&](int pe) { return reaches[static_cast<size_t>(pe)] != 0; });
}

/// Runs a step that may bring more memory, and tells the listener if it did.
template <class Step>
auto DeviceMemory::growing(Step&& step) {
  const size_t had = backed();
  const auto result = step();
  if (grown_ && backed() > had) grown_();
  return result;
}

std::vector<DeviceMemory::Chunk> DeviceMemory::chunks() const {
  std::vector<Chunk> all;
  for (const DeviceRegion* region : {&heap_, &declared_}) {
    if (region->backed() == 0) continue;
    for (const cuda::OwnChunk& chunk : region->chunks().own()) all.push_back({chunk.at, chunk.memory.nbytes()});
  }
  return all;
}

void* DeviceMemory::allocate(size_t nbytes, size_t align, Updates updates) {
  if (align > arena_.alignment()) return nullptr;
  const auto offset =
      growing([&] { return (updates == Updates::node_only ? declared_ : heap_).allocate(nbytes, align); });
  return offset ? base() + *offset : nullptr;
}

bool DeviceMemory::try_resize(const void* object, size_t nbytes) {
  return size_of(object) != 0 && growing([&] { return region_of(object).try_resize(offset_of(object), nbytes); });
}

bool DeviceMemory::release(const void* object) {
  return size_of(object) != 0 && region_of(object).release(offset_of(object));
}

size_t DeviceMemory::size_of(const void* object) const noexcept {
  if (!contains(object)) return 0;
  const size_t offset = offset_of(object);
  if (declared_.contains(offset)) return declared_.size_of(offset);
  return offset < config_.header_nbytes ? 0 : heap_.size_of(offset);
}

std::optional<OffsetAllocator::Extent> DeviceMemory::find(const void* address) const noexcept {
  const size_t offset = offset_of(address);
  if (declared_.contains(offset)) return declared_.find(offset);
  if (!heap_.contains(offset) || offset < config_.header_nbytes) return std::nullopt;
  return heap_.find(offset);
}

std::string DeviceMemory::describe() const {
  if (!attached())
    return text("device heap of up to %s per PE, once a GPU is chosen (cudaSetDevice, then shmem_malloc)\n",
                memory_size(config_.limit).c_str());
  return text("device heap of up to %s per PE on %s, %s backed%s\n", memory_size(config_.limit).c_str(),
              gpu_->description().c_str(), memory_size(backed()).c_str(),
              reaches_node_ ? ", peers of the node mapped" : ", peers by the network only");
}

}  // namespace railshmem
