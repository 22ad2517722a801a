// SPDX-License-Identifier: BSD-3-Clause
// What connects two GPUs of one host.
#pragma once

#include <string>

#include "src/cuda/device.h"

namespace railshmem::cuda {

enum class LinkKind : uint8_t { none, same, nvlink, pcie };

struct Link {
  LinkKind kind = LinkKind::none;
  double bytes_per_second = 0;  ///< in one direction; 0: unknown
};

/// The link from a GPU of this process to the one with that UUID. GPUs that this process does not see, and GPUs that do
/// not reach each other, talk over PCIe.
Link link_to(const DeviceContext& from, const Uuid& to);

/// What the system says of a PCIe device's own link. `speed` and `width` are the contents of current_link_speed and
/// current_link_width in sysfs: "32.0 GT/s PCIe" and "16".
double pcie_bytes_per_second(const std::string& speed, const std::string& width) noexcept;

}  // namespace railshmem::cuda
