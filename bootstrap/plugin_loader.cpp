// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/plugin_loader.h"

#include <dlfcn.h>

#include <string_view>

#include "src/base/error.h"

namespace railshmem {

std::unique_ptr<Bootstrap> start_plugin(const std::string& path, const Env& env, const BootstrapRequest& request) {
  // Never closed: MPI and PMIx leave threads and exit handlers behind.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error(text("cannot load the bootstrap plug-in: %s", dlerror()));
  const auto* version = static_cast<const char*>(dlsym(library, kPluginVersion));
  if (!version || std::string_view(version) != RAILSHMEM_VERSION_TEXT)
    throw Error(text("the bootstrap plug-in %s is of version %s, this library of %s; install both together",
                     path.c_str(), version ? version : "unknown", RAILSHMEM_VERSION_TEXT));
  const auto make = reinterpret_cast<MakeBootstrap>(dlsym(library, kMakeBootstrap));
  if (!make) throw Error(text("%s is no bootstrap plug-in: it has no %s", path.c_str(), kMakeBootstrap));
  return std::unique_ptr<Bootstrap>(make(env, request));
}

}  // namespace railshmem
