// SPDX-License-Identifier: BSD-3-Clause
// How the proxy threads of a PE wait.
#pragma once

#include <cstdint>

#include "src/observe/observer.h"
#include "src/proxy/rails/tuning.h"

namespace railshmem {

struct LoopConfig {
  int pe;
  bool oversubscribed;
  uint64_t spin_ns;         ///< without work before it rests
  uint64_t nap_ns;          ///< longest rest where nothing would wake it
  uint64_t kernel_spin_ns;  ///< after a kernel's last command, before it rests
  uint64_t kernel_nap_ns;   ///< its rests while kernels have channels
  Tuning tuning;
  observe::Observer* observer = nullptr;  ///< records rests; null: nobody
};

}  // namespace railshmem
