// SPDX-License-Identifier: BSD-3-Clause
// The driver's library, apart from the rest: tests have a driver of their own.
#include <dlfcn.h>

#include "overlap/driver.h"
#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

DriverCalls load() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error(text("no CUDA driver: %s; this library needs a GPU", dlerror()));
  DriverCalls calls;
  const auto find = [&](const char* symbol) {
    void* const found = dlsym(library, symbol);
    if (found == nullptr)
      throw Error(text("the CUDA driver here lacks %s; this library needs one of CUDA 11.8 or newer", symbol));
    return found;
  };
#define CALL(member, symbol, ...) calls.member = reinterpret_cast<decltype(calls.member)>(find(#symbol));
#include "overlap/driver_calls.inc"
#undef CALL
  return calls;
}

}  // namespace

const DriverCalls& driver() {
  static const DriverCalls calls = load();
  return calls;
}

}  // namespace railshmem::overlap
