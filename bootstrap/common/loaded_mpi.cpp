// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/common/loaded_mpi.h"

#include <dlfcn.h>

namespace railshmem {
namespace {

/// Names under which an MPI may be loaded without its symbols being global (by a Python module, for example).
constexpr const char* kLibraries[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"};

bool ask(void* library, const char* function) noexcept {
  int answer = 0;
  const auto query = reinterpret_cast<int (*)(int*)>(dlsym(library, function));
  return query && query(&answer) == 0 && answer != 0;
}

/// Inspects one handle; flavour none when there is no MPI behind it.
LoadedMpi inspect(void* library) noexcept {
  LoadedMpi out;
  if (!dlsym(library, "MPI_Initialized")) return out;
  if (dlsym(library, "ompi_mpi_comm_world"))
    out.flavour = MpiFlavour::openmpi;
  else if (dlsym(library, "MPIR_Err_create_code") || dlsym(library, "MPIR_Dup_fn"))
    out.flavour = MpiFlavour::mpich;
  else
    return out;
  // MPICH's PMI does not mind who comes first, so only Open MPI's sessions are used: it has them since 5.0.
  out.has_sessions = out.flavour == MpiFlavour::openmpi && dlsym(library, "MPI_Session_init");
  if (ask(library, "MPI_Finalized"))
    out.phase = MpiPhase::finalized;
  else if (ask(library, "MPI_Initialized"))
    out.phase = MpiPhase::running;
  return out;
}

}  // namespace

LoadedMpi find_loaded_mpi() noexcept {
  LoadedMpi found = inspect(RTLD_DEFAULT);
  for (const char* name : kLibraries) {
    if (found.flavour != MpiFlavour::none) break;
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
      found = inspect(library);
      dlclose(library);
    }
  }
  return found;
}

}  // namespace railshmem
