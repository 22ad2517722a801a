// SPDX-License-Identifier: BSD-3-Clause
// How a thread that streams trigger waits for them.
#pragma once

#include <cstdint>

namespace railshmem {

/// One turn of a thread that has had nothing to do for so long. `share_cpus`: PEs outnumber the CPUs, do not spin.
void idle_rest(uint64_t idle_ns, bool share_cpus) noexcept;

}  // namespace railshmem
