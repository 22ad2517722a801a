// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/bounce_lane.h"

#include <algorithm>

#include "src/base/align.h"
#include "src/cuda/pointer_info.h"
#include "src/plugin/execute.h"

namespace railshmem::cuda {

BounceLane::BounceLane(const DeviceContext& gpu, const PlainCopies* plain)
    : gpu_(gpu), plain_(plain), pinned_(gpu, kMost), lane_(gpu) {}

bool BounceLane::is_pageable(const void* address) const noexcept {
  return inspect(gpu_.driver(), address).kind == MemoryOf::host;
}

/// No side is pageable, unless the copy is long and a call of the program.
void BounceLane::start(void* to, const void* from, size_t nbytes) noexcept {
  if (plain_ == nullptr || !plain_->are_for(to, from)) {
    lane_.start(to, from, nbytes);
    return;
  }
  lane_.start_other("cuLaunchKernel", [&](Stream stream) { return plain_->give(to, from, nbytes, stream); });
}

void BounceLane::add(void* to, const void* from, size_t nbytes) noexcept {
  const bool in = nbytes <= kMost && is_pageable(from), out = nbytes <= kMost && !in && is_pageable(to);
  if (!in && !out) {
    start(to, from, nbytes);
    return;
  }
  std::byte* const bounce = take(nbytes);
  if (in) {
    copy_whole(bounce, static_cast<const std::byte*>(from), nbytes);
    start(to, bounce, nbytes);
  } else {
    start(bounce, from, nbytes);
    out_[outs_++] = {to, bounce, nbytes};
  }
}

/// Pinned memory for a copy; waits for those before where they have it all.
std::byte* BounceLane::take(size_t nbytes) noexcept {
  if (used_ + nbytes > kMost || outs_ == kMostOut) finish();
  std::byte* const place = pinned_.host() + used_;
  used_ = std::min(kMost, align_up(used_ + nbytes, size_t{64}));
  return place;
}

void BounceLane::finish() noexcept {
  lane_.wait();
  for (size_t i = 0; i < outs_; ++i)
    copy_whole(static_cast<std::byte*>(out_[i].to), static_cast<const std::byte*>(out_[i].from), out_[i].nbytes);
  used_ = outs_ = 0;
}

}  // namespace railshmem::cuda
