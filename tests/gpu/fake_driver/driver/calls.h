// SPDX-License-Identifier: BSD-3-Clause
// The symbols of the driver, as C functions: one definition each in this folder.
#pragma once

#include "src/cuda/types.h"

namespace railshmem::cuda {
extern "C" {
#define CALL(member, group, symbol, since, ...) Result symbol(__VA_ARGS__);
#include "src/cuda/driver_calls.inc"
#undef CALL
}
}  // namespace railshmem::cuda
