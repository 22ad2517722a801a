// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/gdr_api.h"

#include <dlfcn.h>

#include "src/base/error.h"

namespace railshmem::cuda {
namespace {

template <class Function>
void find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr)
    throw Error(
        text("SHMEM_GDRCOPY is 1, but libgdrapi.so.2 lacks %s; install GDRCopy 2.0 or later, or set it to 0", symbol));
}

}  // namespace

GdrApi load_gdr_api() {
  void* const library = dlopen("libgdrapi.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error(
        text("SHMEM_GDRCOPY is 1, but GDRCopy is not here: %s; install it, or set SHMEM_GDRCOPY to 0", dlerror()));
  GdrApi api;
  find(library, "gdr_open", api.open);
  find(library, "gdr_close", api.close);
  find(library, "gdr_pin_buffer", api.pin);
  find(library, "gdr_unpin_buffer", api.unpin);
  find(library, "gdr_map", api.map);
  find(library, "gdr_unmap", api.unmap);
  find(library, "gdr_copy_to_mapping", api.copy_to);
  return api;
}

}  // namespace railshmem::cuda
