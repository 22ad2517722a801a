// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/cuda_copier.h"

#include <cstring>

#include "src/cuda/context_guard.h"
#include "src/cuda/pointer_info.h"
#include "src/plugin/execute.h"

namespace railshmem::cuda {
namespace {

constexpr size_t kSmall = 32 << 10;  // a copy of this size takes as long as starting it and asking for its end
constexpr Copier::Ticket kDone = 0;
constexpr unsigned kLaneBits = 2;
constexpr size_t kOut = 1;
constexpr size_t kLarge = 2;
constexpr auto kBySmall = CopyLane::Events::when_asked;
constexpr auto kByLarge = CopyLane::Events::each;

/// Both sides are the host's.
void copy_by_cpu(std::byte* to, const std::byte* from, size_t nbytes) noexcept {
  if (nbytes != 4 && nbytes != 8) {
    std::memcpy(to, from, nbytes);
    return;
  }
  std::byte word[8];
  read_whole(word, from, nbytes);
  copy_whole(to, word, nbytes);
}

bool changes(AmoOp op) noexcept {
  return op != AmoOp::fetch;
}

template <class Word>
uint64_t compute(std::byte* word, AmoOp op, uint64_t operand, uint64_t compare) noexcept {
  return execute_amo(reinterpret_cast<Word*>(word), op, static_cast<Word>(operand), static_cast<Word>(compare));
}

}  // namespace

CudaCopier::CudaCopier(const DeviceContext& gpu, std::span<const std::byte> heaps,
                       std::shared_ptr<HostRegistration> bounce)
    : gpu_(gpu),
      heaps_(heaps),
      bounce_(std::move(bounce)),
      word_(gpu, sizeof(uint64_t)),
      lanes_{{CopyLane(gpu, kBySmall), CopyLane(gpu, kBySmall), CopyLane(gpu, kByLarge), CopyLane(gpu, kByLarge)}},
      words_(gpu) {}

bool CudaCopier::is_device(const std::byte* place) const noexcept {
  const auto inside = [place](std::span<const std::byte> range) {
    return reinterpret_cast<uintptr_t>(place) - reinterpret_cast<uintptr_t>(range.data()) < range.size();
  };
  if (inside(heaps_)) return true;
  if (bounce_ != nullptr && inside({bounce_->host(), bounce_->nbytes()})) return false;
  return is_device_memory(gpu_.driver(), place);
}

Copier::Ticket CudaCopier::start(std::byte* to, const std::byte* from, size_t nbytes) noexcept {
  if (nbytes == 0) return kDone;
  const ContextGuard guard(gpu_);
  const bool in = is_device(to);
  if (!in && !is_device(from)) {
    copy_by_cpu(to, from, nbytes);
    return kDone;
  }
  const size_t lane = (in ? 0 : kOut) + (nbytes > kSmall ? kLarge : 0);
  return lanes_[lane].start(to, from, nbytes) << kLaneBits | lane;
}

bool CudaCopier::finished(Ticket ticket) noexcept {
  return ticket == kDone || lanes_[ticket & (kOut | kLarge)].reached(ticket >> kLaneBits);
}

bool CudaCopier::alone_reaches(const std::byte* place) noexcept {
  const ContextGuard guard(gpu_);
  return is_device(place);
}

void CudaCopier::move_word(void* to, const void* from, uint8_t width) noexcept {
  words_.start(to, from, width);
  words_.wait();
}

uint64_t CudaCopier::amo(std::byte* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept {
  const ContextGuard guard(gpu_);
  std::byte* const here = word_.host();
  if (op != AmoOp::set) move_word(here, word, width);
  const uint64_t old =
      width == 4 ? compute<uint32_t>(here, op, operand, compare) : compute<uint64_t>(here, op, operand, compare);
  if (changes(op)) move_word(word, here, width);
  return old;
}

MakeCopier make_cuda_copiers(const DeviceContext& gpu, std::span<const std::byte> heaps) {
  return [&gpu, heaps, known = std::weak_ptr<HostRegistration>()](std::span<std::byte> bounce) mutable {
    std::shared_ptr<HostRegistration> pinned = known.lock();
    if (pinned == nullptr || pinned->host() != bounce.data()) {
      pinned = std::make_shared<HostRegistration>(gpu, bounce);
      known = pinned;
    }
    return std::make_unique<CudaCopier>(gpu, heaps, std::move(pinned));
  };
}

}  // namespace railshmem::cuda
