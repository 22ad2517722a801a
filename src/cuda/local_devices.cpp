// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/local_devices.h"

#include <array>

#include "src/base/error.h"
#include "src/cuda/check.h"

namespace railshmem::cuda {

LocalDevice describe_device(const Driver& driver, Device device) {
  LocalDevice found{device, {}, {}, {}};
  std::array<char, 128> name{};
  check(driver, driver.device_name(name.data(), static_cast<int>(name.size()) - 1, device), "cuDeviceGetName");
  check(driver, driver.device_uuid(&found.uuid, device), "cuDeviceGetUuid");
  found.pci =
      text("%04x:%02x:%02x.0", attribute_or(driver, device, Attribute::pci_domain, 0),
           attribute_or(driver, device, Attribute::pci_bus, 0), attribute_or(driver, device, Attribute::pci_device, 0));
  found.description = text("GPU %d (%s, %s)", device, name.data(), found.pci.c_str());
  return found;
}

std::vector<LocalDevice> local_devices(const Driver& driver) {
  int count = 0;
  check(driver, driver.device_count(&count), "cuDeviceGetCount");
  std::vector<LocalDevice> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Device device = 0;
    check(driver, driver.device_get(&device, ordinal), "cuDeviceGet");
    devices.push_back(describe_device(driver, device));
  }
  return devices;
}

std::optional<Device> find_device(const std::vector<LocalDevice>& devices, const Uuid& uuid) noexcept {
  for (const LocalDevice& device : devices)
    if (device.uuid == uuid) return device.device;
  return std::nullopt;
}

bool can_reach(const Driver& driver, Device from, Device to) noexcept {
  int can = 0;
  return from == to || (driver.device_can_access(&can, from, to) == kSuccess && can != 0);
}

bool has_native_atomics(const Driver& driver, Device from, Device to) noexcept {
  int has = 0;
  return from == to ||
         (driver.device_peer_attribute(&has, PeerAttribute::native_atomics, from, to) == kSuccess && has != 0);
}

int attribute_or(const Driver& driver, Device device, Attribute attribute, int otherwise) noexcept {
  int value = 0;
  return driver.device_attribute(&value, attribute, device) == kSuccess ? value : otherwise;
}

}  // namespace railshmem::cuda
