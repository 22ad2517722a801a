// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/rdma_flush.h"

#include <array>

#include "src/base/error.h"
#include "src/cuda/check.h"

namespace railshmem::cuda {

RdmaFlush::RdmaFlush(const Driver& driver, Device device, Context context)
    : driver_(driver), device_(device), context_(context) {
  std::array<char, 256> name{};
  if (driver_.device_name(name.data(), static_cast<int>(name.size()) - 1, device) != 0) name.fill('\0');
  service_.device = name[0] == '\0' ? text("GPU %d", device) : text("GPU %d (%s)", device, name.data());
  service_.ordered = attribute(Attribute::writes_ordering) >= kOrderedForOwner;
  service_.available =
      driver_.flush_rdma_writes != nullptr && (attribute(Attribute::flush_writes_options) & kFlushByHost) != 0;
  service_.state = this;
  service_.run = [](void* self) noexcept { return static_cast<RdmaFlush*>(self)->flush(); };
  service_.explain = [](void* self, int error) { return cuda::explain(static_cast<RdmaFlush*>(self)->driver_, error); };
}

int RdmaFlush::attribute(Attribute which) const {
  int value = 0;
  if (const Result result = driver_.device_attribute(&value, which, device_); result != 0)
    throw Error(text("%s does not tell its attribute %d: %s; set SHMEM_FLUSH to read to do without the driver",
                     service_.device.c_str(), static_cast<int>(which), explain(driver_, result).c_str()));
  return value;
}

Result RdmaFlush::flush() noexcept {
  // Pushed and popped each time: the program's threads come by, too, when they wait, with a context of their own.
  if (const Result result = driver_.push_context(context_); result != 0) return result;
  const Result flushed = driver_.flush_rdma_writes(kTargetCurrentContext, kScopeOwner);
  Context popped = nullptr;
  const Result restored = driver_.pop_context(&popped);
  return flushed != 0 ? flushed : restored;
}

}  // namespace railshmem::cuda
