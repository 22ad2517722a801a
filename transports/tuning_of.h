// SPDX-License-Identifier: BSD-3-Clause
// What the environment says about the engine. Throws Error.
#pragma once

#include "src/base/env.h"
#include "src/base/error.h"
#include "src/base/limit.h"
#include "src/proxy/rails/tuning.h"

namespace railshmem {

inline Tuning tuning_of(const Env& env) {
  Tuning tuning;
  if (env.ofi_stripe_min == 0)
    throw Error("SHMEM_OFI_STRIPE_MIN must be at least 1 byte; use a large one to cut nothing");
  tuning.stripe_min = env.ofi_stripe_min;
  tuning.stripe_rails = env.ofi_stripe_rails;
  if (env.rail_timeout_s <= 0) throw Error("SHMEM_RAIL_TIMEOUT must be more than 0 seconds");
  tuning.unreachable_ns = limit_ns(env.timeout_s);
  tuning.rail_timeout_ns = static_cast<uint64_t>(env.rail_timeout_s * 1e9);
  tuning.staging_chunk = env.staging_chunk;
  tuning.staging_depth = env.staging_depth;
  tuning.checks_data = env.check_data;
  tuning.keeps_order = !env.test_unordered;
  return tuning;
}

}  // namespace railshmem
