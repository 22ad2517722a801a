// SPDX-License-Identifier: BSD-3-Clause
// The GPUs that this process may use, and which of them reach which.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/cuda/driver.h"

namespace railshmem::cuda {

struct LocalDevice {
  Device device = 0;
  Uuid uuid{};              ///< equal in all processes, though CUDA_VISIBLE_DEVICES changes the numbers
  std::string pci;          ///< "0000:9a:00.0", as sysfs and hwloc spell it
  std::string description;  ///< "GPU 3 (NVIDIA H200, 0000:9a:00.0)"
};

/// Throws Error where the driver does not tell.
LocalDevice describe_device(const Driver& driver, Device device);
std::vector<LocalDevice> local_devices(const Driver& driver);
/// Finds a device by its UUID; empty where CUDA_VISIBLE_DEVICES hides the device from this process.
std::optional<Device> find_device(const std::vector<LocalDevice>& devices, const Uuid& uuid) noexcept;

/// Whether kernels and copies of `from` may use memory of `to`. A device reaches itself.
bool can_reach(const Driver& driver, Device from, Device to) noexcept;
/// Whether atomics of `from` on memory of `to` are atomic to everybody: over NVLink, not over PCIe.
bool has_native_atomics(const Driver& driver, Device from, Device to) noexcept;

/// The attribute, or `otherwise` where the driver does not know it.
int attribute_or(const Driver& driver, Device device, Attribute attribute, int otherwise) noexcept;

}  // namespace railshmem::cuda
