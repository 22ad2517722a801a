// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace railshmem {

/// Lets another thread have this CPU, in a wait that has lasted for `waited_ns`. From 4 ms on it sleeps for an instant
/// (some 60 us) once in a millisecond: Linux 6.18 starves threads of other sessions for seconds beside one that only
/// yields (decision 0004).
void yield_cpu(uint64_t waited_ns) noexcept;

}  // namespace railshmem
