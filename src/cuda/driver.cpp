// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/driver.h"

#include <dlfcn.h>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/check.h"

namespace railshmem::cuda {
namespace {

struct MissingCall {
  const char* symbol = nullptr;
  int came_with = 0;
};

/// Of the group, the one that came last: a driver that has it has all.
MissingCall missing_call(const Driver& driver, Calls wanted) noexcept {
  MissingCall missing;
#define CALL(member, group, symbol, since, ...) \
  if (Calls::group == wanted && driver.member == nullptr && (since) >= missing.came_with) missing = {#symbol, since};
#include "src/cuda/driver_calls.inc"
#undef CALL
  return missing;
}

int version_of(const Driver& driver) noexcept {
  int version = 0;
  return driver.version != nullptr && driver.version(&version) == kSuccess ? version : 0;
}

}  // namespace

std::optional<Driver> load_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    log_debug("no CUDA driver: %s", dlerror());
    return std::nullopt;
  }
  Driver driver;
#define CALL(member, group, symbol, since, ...) \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(library, #symbol));
#include "src/cuda/driver_calls.inc"
#undef CALL
  if (const MissingCall missing = missing_call(driver, Calls::core); missing.symbol != nullptr) {
    log_warn("the CUDA driver here (%s) is too old: it lacks %s, which came with %s; GPUs are not used",
             version_text(version_of(driver)).c_str(), missing.symbol, version_text(missing.came_with).c_str());
    return std::nullopt;
  }
  if (const Result result = driver.init(0); result != kSuccess) {
    log_debug("the CUDA driver does not start: %s", explain(driver, result).c_str());
    return std::nullopt;
  }
  return driver;
}

bool driver_is_loaded() noexcept {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

bool has(const Driver& driver, Calls group) noexcept {
  return missing_call(driver, group).symbol == nullptr;
}

void need(const Driver& driver, Calls group, const char* purpose, const char* otherwise) {
  const MissingCall missing = missing_call(driver, group);
  if (missing.symbol == nullptr) return;
  throw Error(
      text("the CUDA driver here (%s) is too old for %s: it lacks %s, which came with %s; install a newer "
           "driver%s%s",
           version_text(version_of(driver)).c_str(), purpose, missing.symbol, version_text(missing.came_with).c_str(),
           otherwise != nullptr ? ", or " : "", otherwise != nullptr ? otherwise : ""));
}

std::string version_text(int version) {
  return text("%d.%d", version / 1000, version % 1000 / 10);
}

}  // namespace railshmem::cuda
