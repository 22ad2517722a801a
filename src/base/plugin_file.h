// SPDX-License-Identifier: BSD-3-Clause
// Where the library's plug-ins lie.
#pragma once

#include <string>
#include <vector>

namespace railshmem {

/// The file that holds this function: librailshmem.so, or a program linked statically.
struct Holder {
  std::string file;
  bool is_program = false;
};

/// Where a plug-in for `holder` may lie, the first place first. For a program the installation's lib folder comes
/// first: its own folder may be one that other users write to, such as /tmp.
std::vector<std::string> plugin_places(const Holder& holder, const std::string& name);

/// The path of railshmem/librailshmem-<name>.so next to this library; empty when no such file exists. One that another
/// user could have put there or could change is passed over with a warning (src/base/trusted_file.h).
std::string find_plugin_file(const std::string& name);

/// Throws Error where another user controls the plug-in at `path`, which `variable` names. What cannot be opened is
/// left to the loader, which knows other folders.
void check_named_plugin(const std::string& path, const char* variable);

}  // namespace railshmem
