// SPDX-License-Identifier: BSD-3-Clause
#include "src/plugin/flush.h"

#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem {
namespace {

FlushChoice by_driver(const DeviceFlush* device) {
  if (device == nullptr)
    throw Error(
        "SHMEM_FLUSH is cuda, but rails write host memory only, from where what is for a GPU is copied, and no GPU "
        "driver flushes that; unset SHMEM_FLUSH, or set it to none, read or write_read");
  if (device->ordered) return {FlushPolicy::none, device, device->device + " orders what NICs write by itself"};
  if (!device->available)
    throw Error(
        text("SHMEM_FLUSH is cuda, but the driver of %s does not flush writes of NICs when the host asks; set "
             "SHMEM_FLUSH to auto, read or write_read",
             device->device.c_str()));
  return {FlushPolicy::cuda, device, "SHMEM_FLUSH asks for it"};
}

FlushChoice by_itself(const DeviceFlush* device) {
  if (device == nullptr)
    return {FlushPolicy::none, device, "rails write host memory only, which shows what a completed write brought"};
  if (device->ordered) return {FlushPolicy::none, device, device->device + " orders what NICs write by itself"};
  if (device->available) return {FlushPolicy::cuda, device, "the driver of " + device->device + " flushes"};
  return {FlushPolicy::read, device, "the driver of " + device->device + " does not flush when the host asks"};
}

}  // namespace

void run(const DeviceFlush& device) noexcept {
  if (const int error = device.run(device.state); error != 0)
    die("%s does not flush what NICs wrote: %s; set SHMEM_FLUSH to read or write_read", device.device.c_str(),
        device.explain(device.state, error).c_str());
}

FlushChoice choose_flush(FlushMode asked, const DeviceFlush* device) {
  const std::string wish = "SHMEM_FLUSH asks for it";
  switch (asked) {
    case FlushMode::none:
      return {FlushPolicy::none, device, wish};
    case FlushMode::cuda:
      return by_driver(device);
    case FlushMode::read:
      return {FlushPolicy::read, device, wish};
    case FlushMode::write_read:
      return {FlushPolicy::write_read, device, wish};
    case FlushMode::automatic:
      break;
  }
  return by_itself(device);
}

std::string describe(const FlushChoice& choice) {
  static constexpr const char* kNames[] = {"none", "cuda", "read", "write_read"};
  return text("flush %s: %s\n", kNames[static_cast<size_t>(choice.policy)], choice.reason.c_str());
}

}  // namespace railshmem
