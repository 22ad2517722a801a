// SPDX-License-Identifier: BSD-3-Clause
// Begin and end of what a job records about itself: SHMEM_STATS, SHMEM_TRACE.
#pragma once

#include <memory>

#include "src/base/env.h"
#include "src/observe/observer.h"
#include "src/plugin/bootstrap.h"
#include "src/plugin/network.h"

namespace railshmem {

/// Null when the settings ask for nothing. Throws Error.
std::unique_ptr<observe::Observer> make_observer(const Env& env, int pe);

/// Collective, the last of a job: PE 0 prints the statistics of all PEs and joins their timelines to one file. A part
/// that PE 0 cannot see, because it is on another host, stays there, and a message says so.
void publish_observations(observe::Observer& observer, Bootstrap& bootstrap, Network* network) noexcept;

}  // namespace railshmem
