// SPDX-License-Identifier: BSD-3-Clause
// Loads bootstrap plug-ins.
#pragma once

#include <string>

#include "bootstrap/common/plugin_entry.h"

namespace railshmem {

/// Loads a plug-in for the rest of the process's life and starts its bootstrap. Throws Error naming the path.
std::unique_ptr<Bootstrap> start_plugin(const std::string& path, const Env& env, const BootstrapRequest& request);

}  // namespace railshmem
