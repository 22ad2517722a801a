// SPDX-License-Identifier: BSD-3-Clause
// Makes a GPU see what NICs wrote into its memory, by the driver: SHMEM_FLUSH=cuda.
#pragma once

#include "src/cuda/driver.h"
#include "src/plugin/flush.h"

namespace railshmem::cuda {

/// Flushes one device, in the context that owns the heap. Outlives all users of service().
class RdmaFlush {
 public:
  /// Throws Error when the driver does not tell the device's properties.
  RdmaFlush(const Driver& driver, Device device, Context context);
  RdmaFlush(const RdmaFlush&) = delete;  // service() points here

  const DeviceFlush& service() const noexcept { return service_; }

 private:
  Result flush() noexcept;
  int attribute(Attribute which) const;

  const Driver driver_;
  const Device device_;
  const Context context_;
  DeviceFlush service_;
};

}  // namespace railshmem::cuda
