// SPDX-License-Identifier: BSD-3-Clause
// Where the library's plug-ins lie.
#pragma once

#include <string>

namespace railshmem {

/// The path of railshmem/librailshmem-<name>.so next to this library; empty when there is none.
std::string find_plugin_file(const std::string& name);

}  // namespace railshmem
