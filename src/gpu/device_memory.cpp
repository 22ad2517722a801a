// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/device_memory.h"

#include <algorithm>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/local_devices.h"
#include "src/gpu/agreement.h"

namespace railshmem {
namespace {

// Few chunks: a peer maps each, and NCCL registers each as a window of its own.
constexpr size_t kLeastChunk = size_t{64} << 20;

}  // namespace

DeviceMemory::DeviceMemory(const cuda::Driver& driver, Bootstrap& bootstrap, const NodeLayout& layout,
                           const DeviceMemoryConfig& config)
    : driver_(driver),
      bootstrap_(bootstrap),
      layout_(layout),
      config_(config),
      offsets_(config.limit),
      arena_(driver, layout.members.size(), cuda::DeviceArena::stride_for(2 * config.limit)) {
  if (config.header_nbytes > 0 && !offsets_.allocate(config.header_nbytes))
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
    chunks_.emplace(*gpu_, arena_, static_cast<size_t>(layout_.my_slot), offers_);
    copies_ = std::make_unique<cuda::DeviceCopies>(*gpu_);
    return gpu_->uuid();
  });
  if (const int pe = first_failure(steps); pe >= 0)
    throw Error(text("PE %d has no GPU for the symmetric heap: %s", pe, steps[static_cast<size_t>(pe)].why));
  std::vector<cuda::Uuid> devices;
  for (const auto& step : steps) devices.push_back(step.card);
  agree_on_reach(devices);
  if (!grow_to(std::max<size_t>(config_.header_nbytes, 1)))
    throw Error("the GPUs of this job have no memory left for a symmetric heap; the warning before this names the PE");
}

/// The program's choice, or else the PEs of a host take the GPUs in turn, and the program works with that, too.
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
    why = chunks_->unreachable(devices[static_cast<size_t>(pe)]);
    whose = pe;
  }
  if (!why.empty())
    log_warn("the device heap of PE %d on this host cannot be mapped: %s; kernels of this node use the network instead",
             whose, why.c_str());
  const std::vector<uint8_t> reaches = exchange(bootstrap_, static_cast<uint8_t>(why.empty()));
  // The same from all sides: a node with a gap falls apart.
  reaches_node_ = std::all_of(layout_.members.begin(), layout_.members.end(),
                              [&](int pe) { return reaches[static_cast<size_t>(pe)] != 0; });
}

bool DeviceMemory::grow_to(size_t end) {
  const size_t have = chunks_->nbytes();
  if (end <= have) return true;
  const size_t missing = end - have;
  const size_t generous = std::min(std::max({missing, kLeastChunk, have / 2}), config_.limit - have);
  return grow_by(generous) || (generous > missing && grow_by(missing));
}

bool DeviceMemory::grow_by(size_t nbytes) {
  const auto cards = take_step<cuda::ChunkCard>(bootstrap_, [&] {
    const cuda::ChunkCard card = chunks_->grow(nbytes);
    if (card.at == 0) copies_->fill(base(), 0, config_.header_nbytes);
    return card;
  });
  const auto me = static_cast<size_t>(bootstrap_.pe());
  if (const int pe = first_failure(cards); pe >= 0) {
    log_info("the device heap stays at %zu bytes: PE %d: %s", chunks_->nbytes(), pe,
             cards[static_cast<size_t>(pe)].why);
    if (cards[me].ok()) chunks_->take_back(cards[me].card);
    return false;
  }
  const auto imports = take_step<NoCard>(bootstrap_, [&] {
    for (size_t slot = 0; slot < layout_.members.size() && reaches_node_; ++slot) {
      const auto pe = static_cast<size_t>(layout_.members[slot]);
      if (pe != me) chunks_->import(slot, cards[pe].card);
    }
    return NoCard{};
  });
  chunks_->close_offers();
  if (const int pe = first_failure(imports); pe >= 0)
    throw Error(text("PE %d cannot map the device heaps of its node: %s", pe, imports[static_cast<size_t>(pe)].why));
  return true;
}

void* DeviceMemory::allocate(size_t nbytes, size_t align) {
  if (align > arena_.alignment()) return nullptr;
  const auto offset = offsets_.allocate(nbytes, align);
  if (!offset) return nullptr;
  bool grown = false;
  try {
    grown = grow_to(*offset + offsets_.size_of(*offset));
  } catch (...) {
    offsets_.release(*offset);
    throw;
  }
  if (grown) return base() + *offset;
  offsets_.release(*offset);
  return nullptr;
}

bool DeviceMemory::try_resize(const void* object, size_t nbytes) {
  const size_t had = size_of(object);
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(object) - base());
  if (had == 0 || nbytes == 0 || !offsets_.try_resize(offset, nbytes)) return false;
  if (grow_to(offset + offsets_.size_of(offset))) return true;
  offsets_.try_resize(offset, had);
  return false;
}

bool DeviceMemory::release(const void* object) {
  if (size_of(object) == 0) return false;
  return offsets_.release(static_cast<size_t>(static_cast<const std::byte*>(object) - base()));
}

size_t DeviceMemory::size_of(const void* object) const noexcept {
  if (!contains(object)) return 0;
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(object) - base());
  return offset < config_.header_nbytes ? 0 : offsets_.size_of(offset);
}

std::string DeviceMemory::describe() const {
  if (!attached())
    return text("device heap of up to %zu bytes per PE, once a GPU is chosen (cudaSetDevice, then shmem_malloc)\n",
                config_.limit);
  return text("device heap of up to %zu bytes per PE on %s, %zu bytes backed%s\n", config_.limit,
              gpu_->description().c_str(), chunks_->nbytes(),
              reaches_node_ ? ", peers of the node mapped" : ", peers by the network only");
}

}  // namespace railshmem
