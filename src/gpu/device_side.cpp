// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/device_side.h"

#include <array>
#include <cstring>
#include <exception>

#include "src/base/log.h"
#include "src/cuda/pointer_info.h"
#include "src/gpu/lane_queue.h"
#include "src/plugin/execute.h"

namespace railshmem {
namespace {

void copy_by_cpu(const DeviceCopy& copy) noexcept {
  if (copy.nbytes == 4 || copy.nbytes == 8)
    copy_whole(static_cast<std::byte*>(copy.to), static_cast<const std::byte*>(copy.from), copy.nbytes);
  else
    std::memmove(copy.to, copy.from, copy.nbytes);
}

}  // namespace

DeviceSide::DeviceSide(DeviceMemory& memory) : memory_(memory) {
  try {
    load_words();
  } catch (const std::exception& error) {
    log_debug("no atomic operations of the host on device memory: %s", error.what());
  }
  load_reducer();
  copies_ = &memory.copies();
  if (&memory.working_gpu() != &memory.gpu()) work_beside_program();
}

void DeviceSide::work_beside_program() {
  const cuda::DeviceContext& gpu = memory_.working_gpu();
  if (reducer_) plain_.emplace(gpu, memory_.addresses(), *reducer_);
  beside_ = std::make_unique<cuda::DeviceCopies>(gpu, plain_ ? &*plain_ : nullptr);
  copies_ = beside_.get();
}

void DeviceSide::load_words() {
  std::call_once(words_made_, [this] { words_ = std::make_unique<cuda::WordKernel>(memory_.gpu()); });
}

void DeviceSide::load_reducer() noexcept {
  if (!cuda::ReduceKernel::available()) return;
  std::call_once(reducer_made_, [this] {
    try {
      reducer_ = std::make_unique<cuda::ReduceKernel>(memory_.working_gpu());
    } catch (const std::exception& error) {
      log_warn("the CPU computes reductions on device memory: %s", error.what());
    }
  });
}

bool DeviceSide::in_heaps(const void* address) const noexcept {
  const cuda::DeviceArena& arena = memory_.arena();
  return static_cast<size_t>(static_cast<const std::byte*>(address) - arena.base()) < arena.nbytes();
}

bool DeviceSide::is_device(const void* address) noexcept {
  return in_heaps(address) || cuda::is_device_memory(memory_.gpu().driver(), address);
}

void DeviceSide::copy(void* to, const void* from, size_t nbytes) noexcept {
  if (is_device(to) || is_device(from)) return copies_->copy(to, from, nbytes);
  copy_by_cpu({to, from, nbytes});
}

void DeviceSide::copy_all(std::span<const DeviceCopy> copies) noexcept {
  std::array<DeviceCopy, 32> by_engine;
  size_t count = 0;
  for (const DeviceCopy& copy : copies) {
    if (!is_device(copy.to) && !is_device(copy.from)) {
      copy_by_cpu(copy);
      continue;
    }
    by_engine[count++] = copy;
    if (count < by_engine.size()) continue;
    copies_->copy_all(by_engine);
    count = 0;
  }
  copies_->copy_all({by_engine.data(), count});
}

bool DeviceSide::has_reducer() noexcept {
  load_reducer();
  return reducer_ != nullptr;
}

bool DeviceSide::reduce(const DeviceReduction& reduction) noexcept {
  if (!cuda::ReduceKernel::computes(reduction.kind) || !has_reducer()) return false;
  reducer_->run(reduction);
  return true;
}

std::unique_ptr<DeviceQueue> DeviceSide::make_queue() {
  load_reducer();
  return std::make_unique<LaneQueue>(memory_.working_gpu(), reducer_.get(), plain_ ? &*plain_ : nullptr, *this);
}

uint64_t DeviceSide::amo(void* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept {
  try {
    load_words();
  } catch (const std::exception& error) {
    die("an atomic operation on device memory: %s", error.what());
  }
  return words_->amo(word, width, op, operand, compare);
}

}  // namespace railshmem
