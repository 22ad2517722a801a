// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/plugin_file.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

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

std::string find_plugin_file(const std::string& name) {
  const std::string folder = own_folder();
  // The first for librailshmem.so, installed and in the build tree; the others for static programs in bin/.
  for (const char* place : {"/railshmem/", "/", "/../lib/railshmem/", "/../railshmem/"}) {
    std::string path = folder + place + "librailshmem-" + name + ".so";
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

}  // namespace railshmem
