// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace railshmem {

/// Lets another thread have this CPU. A thread that calls this again and again sleeps for an instant (some 60 us) once
/// in a millisecond: Linux 6.18 starves threads of other sessions for seconds beside one that only yields
/// (decision 0057).
void yield_cpu() noexcept;

}  // namespace railshmem
