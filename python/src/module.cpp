// SPDX-License-Identifier: BSD-3-Clause
// The module railshmem._core. The package's Python files hold what users call and its documentation.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/atomics.h"
#include "python/src/collectives.h"
#include "python/src/heap.h"
#include "python/src/state.h"
#include "python/src/team.h"
#include "python/src/transfers.h"
#include "python/src/waits.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

/// Names what was not freed or destroyed; finalize() reclaims it.
std::vector<std::string> finalize_and_name_leaks() {
  finalize();
  std::vector<std::string> leaks = forget_blocks();
  for (std::string& team : forget_teams()) leaks.push_back(std::move(team));
  return leaks;
}

int my_pe() {
  require_running("railshmem.my_pe");
  return shmem_my_pe();
}

int n_pes() {
  require_running("railshmem.n_pes");
  return shmem_n_pes();
}

void wait_in(const char* function, void (*call)()) {
  require_running(function);
  const nanobind::gil_scoped_release waits;
  call();
}

}  // namespace
}  // namespace railshmem::python

NB_MODULE(_core, module) {
  using namespace railshmem::python;
  namespace nb = nanobind;
  module.def("init", init);
  module.def("finalize", finalize_and_name_leaks);
  module.def("is_initialized", is_initialized);
  module.def("my_pe", my_pe);
  module.def("n_pes", n_pes);
  module.def("barrier_all", [] { wait_in("railshmem.barrier_all", shmem_barrier_all); });
  module.def("quiet", [] { wait_in("railshmem.quiet", shmem_quiet); });
  module.def("fence", [] { wait_in("railshmem.fence", shmem_fence); });
  module.def("build_options", shmemx_build_options);
  module.def("vendor", [] { return SHMEM_VENDOR_STRING; });
  module.def("allocate", allocate, nb::arg("nbytes"), nb::arg("zero"), nb::arg("name"));
  module.def("free", free_array, nb::arg("a").none());
  module.def("peer_bytes", peer_bytes, nb::arg("a").none(), nb::arg("pe"));
  bind_team(module);
  bind_transfers(module);
  bind_waits(module);
  bind_atomics(module);
  bind_collectives(module);
}
