// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/lane_queue.h"

#include <cstring>

#include "src/cuda/context_guard.h"

namespace railshmem {

LaneQueue::LaneQueue(const cuda::DeviceContext& gpu, cuda::ReduceKernel* reducer, const cuda::PlainCopies* plain,
                     DeviceAccess& access)
    : gpu_(gpu),
      reducer_(reducer),
      plain_(plain),
      access_(access),
      word_(gpu, sizeof(uint64_t)),
      lanes_{
          {cuda::CopyLane(gpu), cuda::CopyLane(gpu), cuda::CopyLane(gpu), cuda::CopyLane(gpu), cuda::CopyLane(gpu)}} {}

DeviceQueue::Ticket LaneQueue::copy(const DeviceCopy& copy, size_t lane) noexcept {
  if (copy.nbytes == 0 || copy.to == copy.from) return kDone;
  if (!access_.is_device(copy.to) && !access_.is_device(copy.from)) {
    std::memcpy(copy.to, copy.from, copy.nbytes);
    return kDone;
  }
  const cuda::ContextGuard guard(gpu_);
  lane %= kLanes;
  if (plain_ == nullptr || !plain_->are_for(copy.to, copy.from))
    return ticket_of(lane, lanes_[lane].start(copy.to, copy.from, copy.nbytes));
  return ticket_of(lane, lanes_[lane].start_other("cuLaunchKernel", [&](cuda::Stream stream) {
    return plain_->give(copy.to, copy.from, copy.nbytes, stream);
  }));
}

DeviceQueue::Ticket LaneQueue::reduce(const DeviceReduction& reduction) noexcept {
  const cuda::ContextGuard guard(gpu_);
  return ticket_of(kKernels, lanes_[kKernels].start_other("cuLaunchKernel", [&](cuda::Stream stream) {
    return reducer_->give(reduction, stream);
  }));
}

bool LaneQueue::finished(Ticket ticket) noexcept {
  return ticket == kDone || lanes_[ticket & ((1u << kLaneBits) - 1)].reached(ticket >> kLaneBits);
}

}  // namespace railshmem
