// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/plugin_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/trusted_file.h"

namespace railshmem {
namespace {

/// The file that holds this function; no folder where nobody knows.
Holder own_holder() {
  Dl_info here{};
  link_map* object = nullptr;
  const int found =
      dladdr1(reinterpret_cast<void*>(&own_holder), &here, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP);
  if (found == 0 || !here.dli_fname) return {};
  char path[PATH_MAX];
  Holder holder{here.dli_fname, object == nullptr || object->l_name[0] == '\0'};
  // dladdr gives a program's own name as it was called, which may be relative to a folder long left.
  const ssize_t n = holder.is_program ? readlink("/proc/self/exe", path, sizeof path - 1) : -1;
  if (n > 0)
    holder.file.assign(path, static_cast<size_t>(n));
  else if (realpath(here.dli_fname, path))
    holder.file = path;
  return holder;
}

/// The code of the holder runs already. A program of another user says nothing about whom this user trusts.
Keepers keepers_of_code(const Holder& holder) {
  Keepers keepers = keepers_of(holder.file);
  if (holder.is_program && keepers.owner != 0 && keepers.owner != geteuid()) keepers.groups.clear();
  return keepers;
}

}  // namespace

std::vector<std::string> plugin_places(const Holder& holder, const std::string& name) {
  static constexpr const char* kOfLibrary[] = {"/railshmem/", "/"};  // installed, and in the build tree
  static constexpr const char* kOfProgram[] = {"/../lib/railshmem/", "/../railshmem/", "/railshmem/", "/"};
  std::vector<std::string> places;
  const size_t slash = holder.file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : holder.file.substr(0, slash);
  const auto add = [&](const char* place) { places.push_back(folder + place + "librailshmem-" + name + ".so"); };
  if (holder.is_program)
    for (const char* place : kOfProgram) add(place);
  else
    for (const char* place : kOfLibrary) add(place);
  return places;
}

std::string find_plugin_file(const std::string& name) {
  const Holder holder = own_holder();
  const Keepers keepers = keepers_of_code(holder);
  for (const std::string& place : plugin_places(holder, name)) {
    TrustedFile plugin = open_trusted(place, O_RDONLY, keepers);
    if (plugin.fd) return plugin.path;
    if (plugin.error == 0) log_warn("the plug-in %s is not loaded: it %s", place.c_str(), plugin.refusal.c_str());
  }
  return {};
}

void check_named_plugin(const std::string& path, const char* variable) {
  const TrustedFile plugin = open_trusted(path, O_RDONLY, keepers_of_code(own_holder()));
  if (!plugin.fd && plugin.error == 0)
    throw Error(text("%s is '%s', which is not loaded: it %s", variable, path.c_str(), plugin.refusal.c_str()));
}

}  // namespace railshmem
