// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/plugin_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "src/base/error.h"

namespace railshmem {
namespace {

/// Folder of the file that holds this function: librailshmem.so, or a program linked statically.
std::string own_folder() {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<void*>(&own_folder), &here) || !here.dli_fname) return ".";
  char path[PATH_MAX];
  // dladdr gives a program's own name as it was called, which may be relative to a folder long left.
  const ssize_t n = here.dli_fname[0] == '/' ? -1 : readlink("/proc/self/exe", path, sizeof path - 1);
  const std::string file = n > 0 ? std::string(path, static_cast<size_t>(n))
                                 : std::string(realpath(here.dli_fname, path) ? path : here.dli_fname);
  return file.substr(0, file.rfind('/'));
}

}  // namespace

std::string find_plugin(const std::string& name) {
  const std::string folder = own_folder();
  // The first for librailshmem.so, installed and in the build tree; the others for static programs in bin/.
  for (const char* place : {"/railshmem/", "/", "/../lib/railshmem/", "/../railshmem/"}) {
    std::string path = folder + place + "librailshmem-bootstrap-" + name + ".so";
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

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
