// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/mapped_range.h"

#include "src/base/error.h"
#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"

namespace railshmem::cuda {

MappedRange::MappedRange(const DeviceContext& gpu, size_t nbytes, MappedFor who) : gpu_(gpu), nbytes_(nbytes) {
  for (const LocalDevice& other : local_devices(gpu.driver())) {
    const bool uses = other.device == gpu.device() ||
                      (who == MappedFor::all_gpus && can_reach(gpu.driver(), other.device, gpu.device()));
    if (uses) access_.push_back({{kAtDevice, other.device}, kReadWrite});
  }
  const ContextGuard guard(gpu);
  const Result result = gpu.driver().address_reserve(&base_, nbytes, 0, 0, 0);
  if (result != kSuccess)
    throw Error(text("no addresses for %zu bytes of GPU memory: %s; raise the limit on virtual memory (ulimit -v)",
                     nbytes, explain(gpu.driver(), result).c_str()));
}

MappedRange::~MappedRange() {
  const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
  Address at = base_;
  for (const size_t nbytes : extents_) {
    gpu_.log_failure(gpu_.driver().memory_unmap(at, nbytes), "cuMemUnmap");
    at += nbytes;
  }
  gpu_.log_failure(gpu_.driver().address_free(base_, nbytes_), "cuMemAddressFree");
}

void MappedRange::append(const PhysicalMemory& memory) {
  const size_t nbytes = memory.nbytes();
  if (nbytes == 0 || nbytes > nbytes_ - filled_)
    throw Error(text("%zu bytes do not fit behind %zu of %zu", nbytes, filled_, nbytes_));
  extents_.reserve(extents_.size() + 1);
  const ContextGuard guard(gpu_);
  const Driver& driver = gpu_.driver();
  const Address at = base_ + filled_;
  if (const Result result = driver.memory_map(at, nbytes, 0, memory.handle(), 0); result != kSuccess)
    throw Error(text("cannot map %zu bytes of GPU memory on %s: %s%s", nbytes, gpu_.description().c_str(),
                     explain(driver, result).c_str(), hint(result)));
  if (const Result result = driver.memory_set_access(at, nbytes, access_.data(), access_.size()); result != kSuccess) {
    gpu_.log_failure(driver.memory_unmap(at, nbytes), "cuMemUnmap");
    throw Error(text("%s gets no access to %zu bytes of GPU memory: %s%s", gpu_.description().c_str(), nbytes,
                     explain(driver, result).c_str(), hint(result)));
  }
  extents_.push_back(nbytes);
  filled_ += nbytes;
}

}  // namespace railshmem::cuda
