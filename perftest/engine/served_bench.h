// SPDX-License-Identifier: BSD-3-Clause
// The proxy's own cost per request of a peer: check, execution and answer, on a rail that costs nothing.
#pragma once

#include "perftest/engine/engine_bench.h"

namespace railshmem::perftest {

/// On the calling thread.
EngineFigures measure_served(const EngineBenchOptions& options);

}  // namespace railshmem::perftest
