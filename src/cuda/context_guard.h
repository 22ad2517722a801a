// SPDX-License-Identifier: BSD-3-Clause
// Which context a thread works in while it is in the library.
#pragma once

#include <cstdint>

#include "src/cuda/device.h"

namespace railshmem::cuda {

/// Binds a thread of the library (the proxy) to this context, also for times when somebody captures a graph. Guards for
/// this context then cost the thread one comparison. Throws Error.
void adopt_thread(const DeviceContext& gpu);
/// Whether the calling thread is one that adopt_thread() bound to this context.
bool is_adopted(const DeviceContext& gpu) noexcept;

/// Makes the context current while this lives, and the thread's own context again afterwards. A thread that waits in
/// the library does the proxy's work. So it may be a thread of the program, with a context of another device or none.
///
/// A context that is current already is not pushed (one load from the driver's thread-local memory tells). The capture
/// mode is relaxed meanwhile: a query of our own streams would break a graph that some other thread captures.
class ContextGuard {
 public:
  enum class For : uint8_t { work, cleanup };

  /// Where the context is gone and cannot be made current, For::work ends the job. Cleanup goes on without the context:
  /// at the end of a process the driver leaves before we do, or the program has reset the device.
  explicit ContextGuard(const DeviceContext& gpu, For purpose = For::work) noexcept;
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;

 private:
  const DeviceContext& gpu_;
  bool entered_ = false;  ///< the destructor has something to undo
  bool pushed_ = false;
  CaptureMode mode_ = CaptureMode::relaxed;  ///< the thread's own mode
};

}  // namespace railshmem::cuda
