// SPDX-License-Identifier: BSD-3-Clause
// A whole run, declared without CUDA, because main() is compiled without CUDA.
#pragma once

#include <string>

#include "perftest/device/options.h"

namespace railshmem::perf::gpu {

/// Returns a line that says why no GPU can be used, or nothing. Starts nothing.
std::string why_no_gpu();

/// Starts the library, runs the benches, prints the rows. Returns whether every checked byte was right; throws
/// otherwise.
bool run(const Options& options);

}  // namespace railshmem::perf::gpu
