// SPDX-License-Identifier: BSD-3-Clause
// A process that was started as one of several and does not find the others.
#pragma once

#include <string>

#include "src/base/env.h"

namespace railshmem {

/// Says which launcher's variables speak of several tasks, what is missing, and how to start them as one job; empty
/// when the process seems to be alone on purpose.
std::string describe_lone_task(const Env::Lookup& lookup);

}  // namespace railshmem
