// SPDX-License-Identifier: BSD-3-Clause
// Pinned memory for the words by which streams ask the host.
#pragma once

#include <cstddef>
#include <memory>

#include "src/cuda/kernels/stream_call.h"
#include "src/cuda/pinned.h"
#include "src/team/team.h"

namespace railshmem {

/// Memory of this process's own, which stays when a program resets its GPU.
class CallPage {
 public:
  /// `nbytes`: whole pages. All words are 0. Throws Error.
  CallPage(const cuda::DeviceContext& gpu, size_t nbytes);

  /// As the CPU sees them.
  cuda::CallWord* host() const noexcept { return reinterpret_cast<cuda::CallWord*>(memory_.get()); }
  /// As kernels see them.
  cuda::CallWord* device() const noexcept { return reinterpret_cast<cuda::CallWord*>(pinned_.device()); }

 private:
  const std::unique_ptr<std::byte, Team::FreeAligned> memory_;
  const cuda::HostRegistration pinned_;
};

}  // namespace railshmem
