// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/device_modules.h"

#include <cstddef>

#include "shmemx.h"
#include "src/api/job.h"
#include "src/base/error.h"
#include "src/base/guard.h"

namespace railshmem {
namespace {

constexpr const char* kViewName = "railshmem_device_view";

struct ViewPlace {
  cuda::Context context = nullptr;
  cuda::Address address = 0;
  size_t nbytes = 0;
};

/// In a stream of its own: it waits for no kernel, not even for one that waits for this very call.
cuda::Result copy_in_stream(const cuda::Driver& driver, cuda::Address to, cuda::Address from, size_t nbytes) {
  cuda::Stream stream = nullptr;
  if (const cuda::Result result = driver.stream_create(&stream, cuda::kStreamNonBlocking, 0)) return result;
  cuda::Result result = driver.copy_async(to, from, nbytes, stream);
  if (result == cuda::kSuccess) result = driver.stream_synchronize(stream);
  driver.stream_destroy(stream);
  return result;
}

/// In the module's context, whatever is current, and beside graphs that some thread captures.
cuda::Result copy(const cuda::Driver& driver, cuda::Context context, cuda::Address to, cuda::Address from,
                  size_t nbytes) {
  if (const cuda::Result result = driver.push_context(context)) return result;
  cuda::CaptureMode mode = cuda::CaptureMode::relaxed;
  driver.exchange_capture_mode(&mode);
  const cuda::Result result = copy_in_stream(driver, to, from, nbytes);
  driver.exchange_capture_mode(&mode);
  cuda::Context popped = nullptr;
  driver.pop_context(&popped);
  return result;
}

/// The version that the module was compiled with, which its constant has from the start.
unsigned version_of(const cuda::Driver& driver, const ViewPlace& place) {
  static_assert(offsetof(WorldView, version) == 0);
  uint32_t version = 0;
  const cuda::Result result = copy(driver, place.context, cuda::address_of(&version), place.address, sizeof version);
  if (result != cuda::kSuccess)
    throw Error(text("its %s cannot be read (CUDA gives error %d); was it compiled for this GPU?", kViewName, result));
  return version;
}

/// Throws Error if none exists.
cuda::Context current_context(const cuda::Driver& driver) {
  cuda::Context context = nullptr;
  if (driver.get_context(&context) != cuda::kSuccess || context == nullptr)
    throw Error("no context is current; call it with the context current in which the kernels were loaded");
  return context;
}

void add(DeviceViews& views, const cuda::Driver& driver, DeviceViews::Key key, cuda::Result found, const char* call,
         const ViewPlace& place) {
  if (found == cuda::kNotFound)
    throw Error(
        text("there is no %s in it; compile its kernels with shmem.h, and not as relocatable device code", kViewName));
  if (found != cuda::kSuccess)
    throw Error(text("%s gives error %d; is it loaded, and in the current context?", call, found));
  if (place.nbytes != sizeof(WorldView))
    throw Error(
        text("it was compiled with shmem.h of another RailSHMEM, whose view of the job has %zu bytes, not %zu; "
             "compile it again with the headers of this library",
             place.nbytes, sizeof(WorldView)));
  const unsigned version = version_of(driver, place);
  if (version != kWorldViewVersion)
    throw Error(
        text("it was compiled with shmem.h of another RailSHMEM, whose view of the job has version %u, not %u; "
             "compile it again with the headers of this library",
             version, kWorldViewVersion));
  views.remove(key);
  const std::string wrong = views.add(
      key,
      [&driver, place](const void* view, size_t nbytes) {
        return copy(driver, place.context, place.address, cuda::address_of(view), nbytes);
      },
      place.nbytes, version);
  if (wrong.empty()) return;
  views.remove(key);
  throw Error(wrong);
}

const cuda::Driver& driver_here() {
  const cuda::Driver* const driver = job::driver();
  if (!driver) throw Error("there is no CUDA driver on this machine that could have loaded it");
  return *driver;
}

void forget(DeviceViews::Key key) {
  if (!DeviceViews::instance().remove(key)) throw Error("it was never given to the library, or has left it already");
}

}  // namespace

void add_module(DeviceViews& views, const cuda::Driver& driver, cuda::Module module) {
  cuda::need(driver, cuda::Calls::launch, "modules of the program");
  ViewPlace place{current_context(driver)};
  const cuda::Result found = driver.module_global(&place.address, &place.nbytes, module, kViewName);
  add(views, driver, module, found, "cuModuleGetGlobal", place);
}

void add_library(DeviceViews& views, const cuda::Driver& driver, cuda::Library library) {
  cuda::need(driver, cuda::Calls::library, "libraries of kernels", "load a module instead");
  ViewPlace place{current_context(driver)};
  const cuda::Result found = driver.library_global(&place.address, &place.nbytes, library, kViewName);
  add(views, driver, library, found, "cuLibraryGetGlobal", place);
}

}  // namespace railshmem

using namespace railshmem;

extern "C" {

int shmemx_cumodule_init(shmemx_cumodule_t module) {
  return guard("shmemx_cumodule_init",
               [&] { add_module(DeviceViews::instance(), driver_here(), reinterpret_cast<cuda::Module>(module)); });
}
int shmemx_cumodule_finalize(shmemx_cumodule_t module) {
  return guard("shmemx_cumodule_finalize", [&] { forget(module); });
}
int shmemx_culibrary_init(shmemx_culibrary_t library) {
  return guard("shmemx_culibrary_init",
               [&] { add_library(DeviceViews::instance(), driver_here(), reinterpret_cast<cuda::Library>(library)); });
}
int shmemx_culibrary_finalize(shmemx_culibrary_t library) {
  return guard("shmemx_culibrary_finalize", [&] { forget(library); });
}
}
