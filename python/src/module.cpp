// SPDX-License-Identifier: BSD-3-Clause
// The module railshmem._core. The package's Python files hold what users call and its documentation.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/atomics.h"
#include "python/src/collectives.h"
#include "python/src/device.h"
#include "python/src/device_modules.h"
#include "python/src/errors.h"
#include "python/src/heap.h"
#include "python/src/leases.h"
#include "python/src/members.h"
#include "python/src/moe.h"
#include "python/src/operations.h"
#include "python/src/pools.h"
#include "python/src/state.h"
#include "python/src/stream_collectives.h"
#include "python/src/team.h"
#include "python/src/tensor.h"
#include "python/src/transfers.h"
#include "python/src/waiting.h"
#include "python/src/waits.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

/// Names what was not freed or destroyed; finalize() reclaims it.
std::vector<std::string> finalize_and_name_leaks() {
  finalize();
  close_pools();
  std::vector<std::string> leaks = forget_blocks();
  for (std::string& team : forget_teams()) leaks.push_back(std::move(team));
  return leaks;
}

/// uid is None for the job of the launcher.
void init_in_job(const std::optional<nanobind::bytes>& uid, int rank, int size) {
  if (!uid) return init(nullptr);
  if (uid->size() != kUniqueIdBytes)
    value_error(text("railshmem.init: uid has ", uid->size(), " bytes; pass what unique_id() returned, ",
                     kUniqueIdBytes, " bytes"));
  if (rank < 0 || rank >= size)
    value_error(text("railshmem.init: rank is ", rank, " and size ", size, "; ranks are 0 to size - 1"));
  const Membership membership{{uid->c_str(), uid->size()}, rank, size};
  init(&membership);
}

nanobind::bytes new_unique_id() {
  const std::string id = unique_id();
  return nanobind::bytes(id.data(), id.size());
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
  const Waiting waits(function);
  call();
}

}  // namespace
}  // namespace railshmem::python

NB_MODULE(_core, module) {
  using namespace railshmem::python;
  namespace nb = nanobind;
  nb::set_leak_warnings(false);  // torch's process groups outlive the module when a program ends
  module.def("init", init_in_job, nb::arg("uid").none(), nb::arg("rank"), nb::arg("size"));
  module.def("unique_id", new_unique_id);
  module.def("finalize", finalize_and_name_leaks);
  module.def("is_initialized", is_initialized);
  module.def("my_pe", my_pe);
  module.def("n_pes", n_pes);
  module.def("barrier_all", [] { wait_in("railshmem.barrier_all", shmem_barrier_all); });
  module.def("quiet", [] { wait_in("railshmem.quiet", shmem_quiet); });
  module.def("fence", [] { wait_in("railshmem.fence", shmem_fence); });
  module.def("build_options", shmemx_build_options);
  module.def("vendor", [] { return SHMEM_VENDOR_STRING; });
  module.def("allocate", allocate, nb::arg("function"), nb::arg("nbytes"), nb::arg("zero"), nb::arg("name"));
  module.def("allocate_on_device", allocate_on_device, nb::arg("function"), nb::arg("nbytes"), nb::arg("name"),
             nb::arg("align") = 64);
  module.def("take_gpu", take_gpu, nb::arg("function"), nb::arg("current"));
  module.def("free", free_array, nb::arg("function"), nb::arg("a").none());
  module.def("peer_bytes", peer_bytes, nb::arg("function"), nb::arg("a").none(), nb::arg("pe"));
  module.def("peer_address", peer_address, nb::arg("function"), nb::arg("a").none(), nb::arg("pe"));
  module.def("bytes_on", bytes_on, nb::arg("address"), nb::arg("nbytes"), nb::arg("device"));
  module.def(
      "require_symmetric",
      [](const char* function, const char* argument, nb::handle a) {
        require_running(function);
        require_symmetric(function, Array(function, argument, a, Access::read));
      },
      nb::arg("function"), nb::arg("argument"), nb::arg("a").none());
  module.def("place_of", place_of, nb::arg("function"), nb::arg("a").none());
  bind_tensors(module);
  bind_pools(module);
  bind_leases(module);
  bind_team(module);
  bind_transfers(module);
  bind_waits(module);
  bind_atomics(module);
  bind_collectives(module);
  bind_operations(module);
  bind_stream_collectives(module);
  bind_members(module);
  bind_device_modules(module);
  bind_moe(module);
  bind_moe_bulk(module);
}
