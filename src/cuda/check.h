// SPDX-License-Identifier: BSD-3-Clause
// Results of the driver as errors with its own words.
#pragma once

#include <string>

#include "src/cuda/driver.h"

namespace railshmem::cuda {

/// "no CUDA-capable device is detected"; lives as long as the driver.
const char* words(const Driver& driver, Result result) noexcept;
/// "no CUDA-capable device is detected (100)"
std::string explain(const Driver& driver, Result result);
/// What a user can do about it, with a separator before it; empty where nothing better than the words is known.
const char* hint(Result result) noexcept;

/// Throws Error "`what` failed: words (number)" with a hint unless the result is success.
void check(const Driver& driver, Result result, const char* what);

}  // namespace railshmem::cuda
