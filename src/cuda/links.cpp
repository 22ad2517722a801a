// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/links.h"

#include <cstdlib>

#include "src/base/fds.h"

namespace railshmem::cuda {
namespace {

std::string line_of(const std::string& path) {
  const std::string content = read_file(path);
  return content.substr(0, content.find('\n'));
}

}  // namespace

double pcie_bytes_per_second(const std::string& speed, const std::string& width) noexcept {
  const double transfers = std::strtod(speed.c_str(), nullptr) * 1e9, lanes = std::strtod(width.c_str(), nullptr);
  // A lane carries a bit a transfer. Up to 5 GT/s 8 of 10 bits are data, from 8 GT/s on 128 of 130.
  return transfers * lanes / 8 * (transfers < 8e9 ? 0.8 : 128.0 / 130.0);
}

Link link_to(const DeviceContext& from, const Uuid& to) {
  if (from.uuid() == to) return {LinkKind::same, 0};
  const std::optional<Device> device = find_device(local_devices(from.driver()), to);
  // The driver does not tell how fast NVLink is. Only over NVLink are atomics atomic to everybody.
  if (device && can_reach(from.driver(), from.device(), *device) &&
      has_native_atomics(from.driver(), from.device(), *device))
    return {LinkKind::nvlink, 0};
  const std::string folder = "/sys/bus/pci/devices/" + from.pci() + "/";
  return {LinkKind::pcie,
          pcie_bytes_per_second(line_of(folder + "current_link_speed"), line_of(folder + "current_link_width"))};
}

}  // namespace railshmem::cuda
