// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/device_copies.h"

#include <sched.h>

#include "src/base/cpu.h"
#include "src/cuda/context_guard.h"

namespace railshmem::cuda {

/// A lane for one thread. Who finds none free goes round again: a holder waits for its own copy only.
class DeviceCopies::Turn {
 public:
  explicit Turn(std::array<Lane, kLanes>& lanes) noexcept {
    for (unsigned tries = 1;; ++tries) {
      for (Lane& lane : lanes) {
        // acquire: pairs with the release below; what the last thread left in the lane is seen.
        if (lane.taken.exchange(true, std::memory_order_acquire)) continue;
        lane_ = &lane;
        return;
      }
      cpu_pause();
      if (tries % 64 == 0) sched_yield();  // the holder may want this core
    }
  }
  ~Turn() { lane_->taken.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  BounceLane& lane() noexcept { return lane_->copies; }

 private:
  Lane* lane_ = nullptr;
};

DeviceCopies::DeviceCopies(const DeviceContext& gpu, const PlainCopies* plain)
    : gpu_(gpu), lanes_{{Lane(gpu, plain), Lane(gpu, plain), Lane(gpu, plain), Lane(gpu, plain)}} {}

void DeviceCopies::copy(void* to, const void* from, size_t nbytes) noexcept {
  if (nbytes == 0) return;
  const ContextGuard guard(gpu_);
  Turn turn(lanes_);
  turn.lane().add(to, from, nbytes);
  turn.lane().finish();
}

void DeviceCopies::copy_all(std::span<const DeviceCopy> copies) noexcept {
  if (copies.empty()) return;
  const ContextGuard guard(gpu_);
  Turn turn(lanes_);
  for (const DeviceCopy& copy : copies)
    if (copy.nbytes > 0) turn.lane().add(copy.to, copy.from, copy.nbytes);
  turn.lane().finish();
}

void DeviceCopies::fill(void* to, unsigned char value, size_t nbytes) noexcept {
  if (nbytes == 0) return;
  const ContextGuard guard(gpu_);
  Turn turn(lanes_);
  turn.lane().fill(to, value, nbytes);
  turn.lane().finish();
}

}  // namespace railshmem::cuda
