// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/context_guard.h"

namespace railshmem::cuda {
namespace {

thread_local Context t_adopted = nullptr;

}  // namespace

void adopt_thread(const DeviceContext& gpu) {
  const Driver& driver = gpu.driver();
  gpu.check(driver.set_context(gpu.context()), "cuCtxSetCurrent");
  CaptureMode mode = CaptureMode::relaxed;
  gpu.check(driver.exchange_capture_mode(&mode), "cuThreadExchangeStreamCaptureMode");
  t_adopted = gpu.context();
}

bool is_adopted(const DeviceContext& gpu) noexcept {
  return t_adopted == gpu.context();
}

ContextGuard::ContextGuard(const DeviceContext& gpu, For purpose) noexcept : gpu_(gpu) {
  if (is_adopted(gpu)) return;
  const Driver& driver = gpu.driver();
  const char* call = "cuCtxGetCurrent";
  Context found = nullptr;
  Result result = driver.get_context(&found);
  if (result == kSuccess && found != gpu.context()) {
    call = "cuCtxPushCurrent";
    result = driver.push_context(gpu.context());
    pushed_ = result == kSuccess;
  }
  entered_ = result == kSuccess;
  if (!entered_ && purpose == For::work) gpu.die_of(result, call);
  if (entered_) driver.exchange_capture_mode(&mode_);
}

ContextGuard::~ContextGuard() {
  if (!entered_) return;
  const Driver& driver = gpu_.driver();
  driver.exchange_capture_mode(&mode_);
  Context popped = nullptr;
  if (pushed_) gpu_.log_failure(driver.pop_context(&popped), "cuCtxPopCurrent");
}

}  // namespace railshmem::cuda
