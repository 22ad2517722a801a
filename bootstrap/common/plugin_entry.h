// SPDX-License-Identifier: BSD-3-Clause
// The entry point of a bootstrap plug-in. Plug-ins and library are built together: the version must be equal.
#pragma once

#include "src/plugin/bootstrap.h"

namespace railshmem {

/// Exported as `railshmem_make_bootstrap`; may throw Error. The caller owns the result.
using MakeBootstrap = Bootstrap* (*)(const Env&, const BootstrapRequest&);
inline constexpr const char* kMakeBootstrap = "railshmem_make_bootstrap";
/// Exported as `railshmem_plugin_version`, a string.
inline constexpr const char* kPluginVersion = "railshmem_plugin_version";

}  // namespace railshmem

#define RAILSHMEM_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#define RAILSHMEM_PLUGIN_VERSION_HERE                            \
  RAILSHMEM_PLUGIN_EXPORT const char railshmem_plugin_version[]; \
  const char railshmem_plugin_version[] = RAILSHMEM_VERSION_TEXT
