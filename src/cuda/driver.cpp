// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/driver.h"

#include <dlfcn.h>

#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem::cuda {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

std::optional<Driver> load_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    log_debug("no CUDA driver: %s", dlerror());
    return std::nullopt;
  }
  Driver driver;
  find(library, "cuInit", driver.init);
  find(library, "cuDeviceGetAttribute", driver.device_attribute);
  find(library, "cuDeviceGetName", driver.device_name);
  find(library, "cuCtxPushCurrent_v2", driver.push_context);
  find(library, "cuCtxPopCurrent_v2", driver.pop_context);
  find(library, "cuGetErrorString", driver.error_string);
  find(library, "cuFlushGPUDirectRDMAWrites", driver.flush_rdma_writes);
  if (!driver.init || !driver.device_attribute || !driver.device_name || !driver.push_context || !driver.pop_context ||
      !driver.error_string) {
    log_warn("libcuda.so.1 lacks functions that every CUDA driver has; it is not used");
    return std::nullopt;
  }
  if (const Result result = driver.init(0); result != 0) {
    log_debug("the CUDA driver does not start: %s", explain(driver, result).c_str());
    return std::nullopt;
  }
  return driver;
}

std::string explain(const Driver& driver, Result result) {
  const char* words = nullptr;
  if (driver.error_string(result, &words) != 0 || words == nullptr) words = "an error unknown to the driver";
  return text("%s (%d)", words, result);
}

}  // namespace railshmem::cuda
