// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/moe_library.h"

#include <dlfcn.h>
#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "python/src/errors.h"
#include "shmem.h"

namespace railshmem::python {
namespace {

constexpr const char* kName = "librailshmem-moe.so.0";

/// The folder of the librailshmem.so that this module uses, with a slash at its end; empty where nobody knows.
std::string folder_of_core() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<const void*>(&shmem_init), &found) == 0 || found.dli_fname == nullptr) return "";
  const std::string file = found.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

void* open(const char* function) {
  const std::string folder = folder_of_core();
  std::string why;
  for (const std::string& path : {folder + kName, folder + "moe/" + kName, std::string(kName)}) {
    // It stays open: its kernels may be in graphs to the end.
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why = dlerror();
  }
  PyErr_SetString(PyExc_FileNotFoundError,
                  text(function, ": this installation has no ", kName,
                       " that can be opened, beside librailshmem.so in ", folder, ", or where the loader looks: ", why)
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
