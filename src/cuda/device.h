// SPDX-License-Identifier: BSD-3-Clause
// The GPU of one PE: a device, and the context in which the program uses it.
#pragma once

#include <cstddef>
#include <string>

#include "src/cuda/driver.h"
#include "src/cuda/local_devices.h"

namespace railshmem::cuda {

struct DeviceCapabilities {
  bool virtual_memory = false;          ///< cuMemCreate and its family
  bool posix_fds = false;               ///< memory can be given to other processes
  bool fabric_handles = false;          ///< and to other hosts of one NVLink domain
  bool rdma_of_virtual_memory = false;  ///< NICs can be given virtual memory
  bool dma_bufs = false;
  bool host_atomics = false;  ///< atomics are atomic to CPU and GPU at once, whichever issues them
  bool flushes_remote_writes = false;
  bool words_of_64_bits = false;  ///< streams can wait for and write 8 bytes
  int compute_capability = 0;     ///< 90 is Hopper
  int multiprocessors = 0;
  int host_numa_node = -1;  ///< the nearest; -1: unknown
  size_t granularity = 0;   ///< of virtual memory; 0 if none exists
};

/// Keeps the context alive where it is the primary one, which is the runtime API's. Everything else in this folder
/// borrows one of these: it outlives them. Move-only.
class DeviceContext {
 public:
  /// Whether this thread has a context, that is, whether the program has chosen a device (cudaSetDevice).
  static bool is_current(const Driver& driver) noexcept;
  /// The context that is current on this thread. Throws Error if none exists.
  static DeviceContext current(const Driver& driver);
  /// The primary context of a device; does not make it current. Throws Error.
  static DeviceContext primary(const Driver& driver, Device device);
  /// A new context on the GPU of another one. Calls in it do not wait for a lock that a call of the program holds in
  /// the other one (docs/decisions/0025). Its kernels and short copies to the GPU take turns with kernels of the other
  /// context. Throws Error.
  static DeviceContext beside(const DeviceContext& other);

  DeviceContext(DeviceContext&& other) noexcept;
  DeviceContext& operator=(DeviceContext&&) = delete;
  ~DeviceContext();

  const Driver& driver() const noexcept { return *driver_; }
  Device device() const noexcept { return about_.device; }
  Context context() const noexcept { return context_; }
  const Uuid& uuid() const noexcept { return about_.uuid; }
  const std::string& pci() const noexcept { return about_.pci; }
  const std::string& description() const noexcept { return about_.description; }
  const DeviceCapabilities& capabilities() const noexcept { return capabilities_; }

  /// Throws Error naming the call and the device unless the result is success.
  void check(Result result, const char* call) const;
  /// For the data path: ends the job with the driver's words.
  [[noreturn, gnu::cold]] void die_of(Result result, const char* call) const noexcept;
  /// For destructors: says what failed, unless the process is ending and the driver with it.
  void log_failure(Result result, const char* call) const noexcept;

 private:
  /// What of the context is ours: nothing, one reference to a primary context, or the context itself.
  enum class Hold : uint8_t { nothing, reference, all };
  DeviceContext(const Driver& driver, Device device, Context context, Hold hold);
  static Result let_go(const Driver& driver, Device device, Context context, Hold hold) noexcept;

  const Driver* driver_;
  Context context_;
  Hold hold_;
  LocalDevice about_;
  DeviceCapabilities capabilities_;
};

}  // namespace railshmem::cuda
