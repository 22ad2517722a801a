// SPDX-License-Identifier: BSD-3-Clause
// How data that a peer's RMA wrote becomes visible to its reader: what a device offers, and what SHMEM_FLUSH makes of
// it.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/env.h"

namespace railshmem {

/// Contract: a device whose memory rails write themselves, not by way of the host's. Filled in by the layer that knows
/// the device's driver.
struct DeviceFlush {
  std::string device;    ///< for messages: "GPU 0 (NVIDIA H100)"
  bool ordered = false;  ///< the device itself never sees a word before what a NIC wrote before it: no flush is needed
  bool available = false;                ///< run() may be called
  int (*run)(void*) noexcept = nullptr;  ///< returns when all that arrived is visible to the device: 0, else an error
  void* state = nullptr;                 ///< of run() and explain()
  std::string (*explain)(void* state, int error) = nullptr;
};

/// Flushes now; ends the job where the device does not.
void run(const DeviceFlush& device) noexcept;

enum class FlushPolicy : uint8_t { none, cuda, read, write_read };

struct FlushChoice {
  FlushPolicy policy = FlushPolicy::none;
  const DeviceFlush* device = nullptr;  ///< null: rails write host memory only
  std::string reason = {};
};

/// `device`: null where rails write host memory only; data for a device heap that is copied from there has arrived when
/// its copy has ended, before its signal is given. Throws Error where the policy that was asked for cannot be had.
FlushChoice choose_flush(FlushMode asked, const DeviceFlush* device);

/// A line for SHMEM_INFO=1: the policy and why.
std::string describe(const FlushChoice& choice);

}  // namespace railshmem
