// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/moe_library.h"

#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "python/src/errors.h"
#include "shmem.h"

namespace railshmem::python {
namespace {

constexpr const char* kName = "librailshmem-moe.so.0";

/// The librailshmem.so that this module uses; empty where nobody knows.
std::string core_file() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<const void*>(&shmem_init), &found) == 0 || found.dli_fname == nullptr) return "";
  return found.dli_fname;
}

/// With a slash at its end; empty where the file has none.
std::string folder_of(const std::string& file) {
  return file.substr(0, file.rfind('/') + 1);
}

bool may_write(const struct stat& found, gid_t group) {
  return (found.st_mode & S_IWGRP) != 0 && found.st_gid == group;
}

/// Whether only those can change what `path` names who can change the core itself: root, this user, the owner of the
/// core and the groups that may write to it or to its folder. As the core does with its plug-ins (docs/security.md).
bool is_kept_like(const std::string& core_path, const std::string& path) {
  struct stat core {
  }, top{}, found{};
  if (stat(core_path.c_str(), &core) != 0 || stat(folder_of(core_path).c_str(), &top) != 0) return false;
  if (stat(path.c_str(), &found) != 0) return false;
  if (found.st_uid != 0 && found.st_uid != geteuid() && found.st_uid != core.st_uid) return false;
  if ((found.st_mode & S_ISVTX) != 0) return S_ISDIR(found.st_mode);
  if ((found.st_mode & S_IWOTH) != 0) return false;
  if ((found.st_mode & S_IWGRP) == 0 || found.st_gid == 0 || found.st_gid == found.st_uid) return true;
  return may_write(core, found.st_gid) || ((top.st_mode & S_ISVTX) == 0 && may_write(top, found.st_gid));
}

/// Places beside the core, the first one first, and what the loader knows. `why`: what was refused.
std::vector<std::string> places(const std::string& core, std::string& why) {
  const std::string folder = folder_of(core);
  std::vector<std::string> found;
  for (const char* const below : {"", "moe/"}) {
    const std::string place = folder + below;
    const std::string file = place + kName;
    if (folder.empty() || access(file.c_str(), F_OK) != 0) continue;  // an empty folder would be the current one
    if (is_kept_like(core, place) && is_kept_like(core, file))
      found.push_back(file);
    else
      why = text(file, " is not loaded: another user than those of librailshmem.so can write to it or to its folder");
  }
  if (why.empty()) found.emplace_back(kName);  // the loader could find the very file that was refused
  return found;
}

void* open(const char* function) {
  const std::string core = core_file();
  std::string why;
  for (const std::string& path : places(core, why)) {
    // It stays open: its kernels may be in graphs to the end.
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (why.empty()) why = dlerror();
  }
  PyErr_SetString(PyExc_FileNotFoundError, text(function, ": this installation has no ", kName,
                                                " that can be opened, beside librailshmem.so in ", folder_of(core),
                                                ", or where the loader looks: ", why)
                                               .c_str());
  throw nanobind::python_error();
}

template <class Function>
void find(const char* function, void* library, const char* name, Function& to) {
  to = reinterpret_cast<Function>(dlsym(library, name));
  if (to == nullptr)
    state_error(text(function, ": ", kName, " has no ", name, "; install the one of this package's version"));
}

}  // namespace

const MoeLibrary& moe_library(const char* function) {
  static std::optional<MoeLibrary> opened;
  if (opened) return *opened;
  void* const library = open(function);
  MoeLibrary calls{};
  find(function, library, "shmemx_moe_workspace", calls.workspace);
  find(function, library, "shmemx_moe_workspace_of", calls.workspace_of);
  find(function, library, "shmemx_moe_workspace_between_nodes", calls.workspace_between_nodes);
  find(function, library, "shmemx_moe_create", calls.create);
  find(function, library, "shmemx_moe_destroy", calls.destroy);
  find(function, library, "shmemx_moe_dispatch_on_stream", calls.dispatch);
  find(function, library, "shmemx_moe_combine_on_stream", calls.combine);
  find(function, library, "shmemx_moe_complete_on_stream", calls.complete);
  find(function, library, "shmemx_moe_mask_on_stream", calls.mask);
  find(function, library, "shmemx_moe_unmask_on_stream", calls.unmask);
  find(function, library, "shmemx_moe_masked_on_stream", calls.masked);
  find(function, library, "shmemx_moe_meet_on_stream", calls.meet);
  find(function, library, "shmemx_moe_bulk_workspace", calls.bulk_workspace);
  find(function, library, "shmemx_moe_bulk_workspace_of", calls.bulk_workspace_of);
  find(function, library, "shmemx_moe_bulk_workspace_between_nodes", calls.bulk_workspace_between_nodes);
  find(function, library, "shmemx_moe_bulk_create", calls.bulk_create);
  find(function, library, "shmemx_moe_bulk_destroy", calls.bulk_destroy);
  find(function, library, "shmemx_moe_bulk_dispatch_on_stream", calls.bulk_dispatch);
  find(function, library, "shmemx_moe_bulk_combine_on_stream", calls.bulk_combine);
  find(function, library, "shmemx_moe_bulk_layout_on_stream", calls.bulk_layout);
  return opened.emplace(calls);
}

}  // namespace railshmem::python
