// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_PROXY_THREADS.
#pragma once

#include "src/base/env.h"
#include "src/base/error.h"
#include "src/plugin/port.h"

namespace railshmem {

/// Throws Error.
inline size_t proxy_threads_of(const Env& env) {
  if (env.proxy_threads < 1 || env.proxy_threads > kMaxProxyThreads)
    throw Error(text("SHMEM_PROXY_THREADS is %zu; 1 to %zu are possible", static_cast<size_t>(env.proxy_threads),
                     kMaxProxyThreads));
  if (env.proxy_threads > env.device_rings)
    throw Error(text(
        "SHMEM_PROXY_THREADS is %zu and SHMEM_DEVICE_RINGS %zu: a ring is driven by one thread, so there must be at "
        "least as many rings",
        static_cast<size_t>(env.proxy_threads), static_cast<size_t>(env.device_rings)));
  return env.proxy_threads;
}

}  // namespace railshmem
