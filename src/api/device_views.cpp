// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/device_views.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "include/shmem/device/view.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/process.h"

namespace railshmem {

DeviceViews& DeviceViews::instance() noexcept {
  // Units say goodbye from destructors of static objects, in whatever order those run.
  return g_process.device_views.get();
}

/// Gives the unit the view; says what is wrong, or nothing.
std::string DeviceViews::fault(const Unit& unit, const WorldView& view) {
  if (unit.version != kWorldViewVersion || unit.nbytes != sizeof view) {
    return text(
        "a CUDA source of this program was compiled with shmem.h of another RailSHMEM (device view version %u of %zu "
        "bytes; this library has version %u of %zu bytes); compile it again with the headers of this library",
        unit.version, unit.nbytes, kWorldViewVersion, sizeof view);
  }
  if (const int error = unit.fill(&view, sizeof view); error != 0) {
    return text(
        "the view of the job cannot be copied to a CUDA unit or module of this program (CUDA gives error %d); was it "
        "compiled for this GPU, and is the GPU of this PE the current one?",
        error);
  }
  return {};
}

std::string DeviceViews::add(Key key, Fill fill, size_t nbytes, unsigned version) {
  const std::lock_guard lock(mutex_);
  units_.push_back({key, std::move(fill), nbytes, version});
  return view_ ? fault(units_.back(), *view_) : std::string();
}

bool DeviceViews::remove(Key key) noexcept {
  const std::lock_guard lock(mutex_);
  return std::erase_if(units_, [key](const Unit& unit) { return unit.key == key; }) > 0;
}

bool DeviceViews::any() const {
  const std::lock_guard lock(mutex_);
  return !units_.empty();
}

void DeviceViews::set(const WorldView& view) {
  const std::lock_guard lock(mutex_);
  for (const Unit& unit : units_) {
    const std::string wrong = fault(unit, view);
    if (!wrong.empty()) throw Error(wrong);
  }
  view_ = view;
}

void DeviceViews::clear() noexcept {
  const std::lock_guard lock(mutex_);
  if (!view_) return;
  view_.reset();
  const WorldView none;
  for (const Unit& unit : units_) {
    // The device may be gone already, and kernels with it: nothing to report.
    if (unit.version == kWorldViewVersion && unit.nbytes == sizeof none)
      static_cast<void>(unit.fill(&none, sizeof none));
  }
}

}  // namespace railshmem

namespace {

railshmem::DeviceViews::Key key_of(int (*fill)(const void*, size_t)) {
  return reinterpret_cast<const void*>(fill);
}

}  // namespace

extern "C" {

void shmemx_device_view_register(int (*fill)(const void*, size_t), size_t nbytes, unsigned version) {
  // Before main(), and so before CUDA reads it. With lazy loading, its default, the first launch of a kernel may wait
  // for the kernels that run, and with it every copy of this process; they may be waiting for just that.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  const std::string wrong = railshmem::DeviceViews::instance().add(key_of(fill), fill, nbytes, version);
  if (!wrong.empty()) railshmem::log_error("%s", wrong.c_str());  // static objects call this: no other way to tell
}

void shmemx_device_view_unregister(int (*fill)(const void*, size_t)) {
  railshmem::DeviceViews::instance().remove(key_of(fill));
}
}
