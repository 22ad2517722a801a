// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/user_memory.h"

#include "src/base/error.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/pointer_info.h"

namespace railshmem::cuda {

UserMemory find_user_memory(const DeviceContext& gpu, void* address, size_t nbytes, bool to_share) {
  const ContextGuard guard(gpu);
  const Driver& driver = gpu.driver();
  const Address first = address_of(address);
  if (nbytes == 0 || nbytes > ~Address{0} - first) throw Error(text("%zu bytes at %p are no buffer", nbytes, address));
  UserMemory found;
  for (Address at = first; at < first + nbytes;) {
    Address start = 0;
    size_t length = 0;
    if (!is_device_memory(driver, pointer_to(at)) || driver.address_range(&start, &length, at) != kSuccess)
      throw Error(text("%p, in a buffer of %zu bytes at %p, is no device memory", static_cast<void*>(pointer_to(at)),
                       nbytes, address));
    if (at == first) found.offset = first - start;
    found.extents.push_back(PhysicalMemory::retain(gpu, pointer_to(start), length, to_share));
    found.nbytes += length;
    at = start + length;
  }
  return found;
}

}  // namespace railshmem::cuda
