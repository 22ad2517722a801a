// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/device.h"

#include <utility>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/check.h"

namespace railshmem::cuda {
namespace {

DeviceCapabilities capabilities_of(const Driver& driver, Device device) {
  const auto of = [&](Attribute attribute) { return attribute_or(driver, device, attribute, 0); };
  DeviceCapabilities found;
  found.virtual_memory = has(driver, Calls::memory) && of(Attribute::virtual_memory_management) != 0;
  found.posix_fds = of(Attribute::handle_type_posix_fd) != 0;
  found.fabric_handles = of(Attribute::handle_type_fabric) != 0;
  found.rdma_of_virtual_memory = of(Attribute::rdma_with_virtual_memory) != 0;
  found.dma_bufs = has(driver, Calls::dma_buf) && of(Attribute::dma_buf) != 0;
  found.host_atomics = of(Attribute::host_native_atomics) != 0;
  found.flushes_remote_writes = of(Attribute::can_flush_remote_writes) != 0;
  found.words_of_64_bits = has(driver, Calls::words) && of(Attribute::words_of_64_bits) != 0;
  found.compute_capability = of(Attribute::compute_capability_major) * 10 + of(Attribute::compute_capability_minor);
  found.multiprocessors = of(Attribute::multiprocessors);
  found.host_numa_node = attribute_or(driver, device, Attribute::host_numa_node, -1);
  if (found.virtual_memory) {
    AllocationProperties properties;
    properties.location.id = device;
    check(driver, driver.memory_granularity(&found.granularity, &properties, kRecommendedGranularity),
          "cuMemGetAllocationGranularity");
  }
  return found;
}

/// Retains the primary context when it is this one. Never wakes one up: that takes a while and memory.
bool retain_if_primary(const Driver& driver, Device device, Context context) {
  unsigned flags = 0;
  int active = 0;
  Context primary = nullptr;
  if (driver.primary_state(device, &flags, &active) != kSuccess || active == 0) return false;
  if (driver.primary_retain(&primary, device) != kSuccess) return false;
  if (primary == context) return true;
  driver.primary_release(device);
  return false;
}

}  // namespace

bool DeviceContext::is_current(const Driver& driver) noexcept {
  Context found = nullptr;
  return driver.get_context(&found) == kSuccess && found != nullptr;
}

DeviceContext DeviceContext::current(const Driver& driver) {
  Context found = nullptr;
  cuda::check(driver, driver.get_context(&found), "cuCtxGetCurrent");
  if (found == nullptr)
    throw Error("no GPU is chosen in this thread; call cudaSetDevice, or make a context current, first");
  Device device = 0;
  cuda::check(driver, driver.context_device(&device), "cuCtxGetDevice");
  return DeviceContext(driver, device, found,
                       retain_if_primary(driver, device, found) ? Hold::reference : Hold::nothing);
}

DeviceContext DeviceContext::primary(const Driver& driver, Device device) {
  Context found = nullptr;
  if (const Result result = driver.primary_retain(&found, device); result != kSuccess)
    throw Error(text("GPU %d cannot be used: %s", device, explain(driver, result).c_str()));
  return DeviceContext(driver, device, found, Hold::reference);
}

DeviceContext DeviceContext::beside(const DeviceContext& other) {
  const Driver& driver = other.driver();
  need(driver, Calls::contexts, "a context of the library's own");
  Context made = nullptr, popped = nullptr;
  other.check(driver.context_create(&made, 0, other.device()), "cuCtxCreate");
  other.check(driver.pop_context(&popped), "cuCtxPopCurrent");  // it was made current
  return DeviceContext(driver, other.device(), made, Hold::all);
}

DeviceContext::DeviceContext(const Driver& driver, Device device, Context context, Hold hold) try
    : driver_(&driver),
      context_(context),
      hold_(hold),
      about_(describe_device(driver, device)),
      capabilities_(capabilities_of(driver, device)) {
} catch (...) {
  let_go(driver, device, context, hold);
}

DeviceContext::DeviceContext(DeviceContext&& other) noexcept
    : driver_(other.driver_),
      context_(other.context_),
      hold_(std::exchange(other.hold_, Hold::nothing)),
      about_(std::move(other.about_)),
      capabilities_(other.capabilities_) {}

Result DeviceContext::let_go(const Driver& driver, Device device, Context context, Hold hold) noexcept {
  if (hold == Hold::nothing) return kSuccess;
  return hold == Hold::all ? driver.context_destroy(context) : driver.primary_release(device);
}

DeviceContext::~DeviceContext() {
  log_failure(let_go(*driver_, device(), context_, hold_), "letting go of a context");
}

void DeviceContext::check(Result result, const char* call) const {
  if (result != kSuccess)
    throw Error(
        text("%s on %s failed: %s%s", call, description().c_str(), explain(*driver_, result).c_str(), hint(result)));
}

void DeviceContext::die_of(Result result, const char* call) const noexcept {
  die("%s on %s failed: %s (%d)%s", call, description().c_str(), words(*driver_, result), result, hint(result));
}

void DeviceContext::log_failure(Result result, const char* call) const noexcept {
  if (result == kSuccess || result == kDeinitialized || result == kContextIsDestroyed) return;
  log_debug("%s on %s failed: %s (%d)", call, description().c_str(), words(*driver_, result), result);
}

}  // namespace railshmem::cuda
