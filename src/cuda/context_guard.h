// SPDX-License-Identifier: BSD-3-Clause
// Which context a thread works in while it is in the library.
#pragma once

#include <cstdint>

#include "src/cuda/device.h"

namespace railshmem::cuda {

/// For threads of the library's own (the proxy): works in this context from now on, and may while somebody captures a
/// graph. Guards for the same context cost one comparison then. Throws Error.
void adopt_thread(const DeviceContext& gpu);

/// The context is current while this lives, and the thread's own one is again afterwards. Whoever waits in the library
/// does the proxy's work, so the thread may be the program's, with a context of another device or none.
///
/// Where the right context is current already (one load from the driver's thread-local memory), it is not pushed. The
/// capture mode is relaxed meanwhile: a query of our own streams would break a graph that some other thread captures.
class ContextGuard {
 public:
  enum class For : uint8_t { work, cleanup };

  /// Where the context cannot be made current, because it is gone, work ends the job. Cleanup goes on without: at the
  /// end of a process the driver leaves before we do, or the program has reset the device.
  explicit ContextGuard(const DeviceContext& gpu, For purpose = For::work) noexcept;
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;

 private:
  const DeviceContext& gpu_;
  bool entered_ = false;  ///< something is to be undone
  bool pushed_ = false;
  CaptureMode mode_ = CaptureMode::relaxed;  ///< the thread's own
};

}  // namespace railshmem::cuda
