// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/collectives.h"

#include <string_view>

#include "python/src/array.h"
#include "python/src/errors.h"
#include "python/src/heap.h"
#include "python/src/reductions.h"
#include "python/src/state.h"
#include "python/src/team.h"
#include "python/src/waiting.h"
#include "shmem.h"

namespace railshmem::python {
namespace {

/// Its arguments have other names.
bool is_of_torch(const char* function) {
  return std::string_view(function).starts_with("railshmem.torch.");
}

/// The arguments that all collectives have, checked as far as one PE can. No team stands for the world.
struct Call {
  Call(const char* name, nanobind::handle to, nanobind::handle from, const Team* members, bool waits_for_members)
      : function((require_running(name), name)),
        dest(name, is_of_torch(name) ? "output" : "dest", to, Access::write),
        source(name, is_of_torch(name) ? "input" : "source", from, Access::read),
        team(members ? members->use(name) : SHMEM_TEAM_WORLD),
        npes(static_cast<size_t>(shmem_team_n_pes(team))),
        when_come(waits_for_members) {
    require_one_type(function, dest, source);
    require_on_host(function, dest);
    require_on_host(function, source);
    require_symmetric(function, dest);
    require_symmetric(function, source);
  }

  /// ValueError unless `larger` has `times` the elements of `smaller`.
  void require_ratio(const Array& larger, const Array& smaller, size_t times) const {
    if (larger.elements() != smaller.elements() * times)
      value_error(text(function, ": ", larger.argument(), " has ", larger.elements(), " elements; for a team of ", npes,
                       " PEs and ", smaller.elements(), " elements of ", smaller.argument(), " it must have ",
                       smaller.elements() * times));
  }

  /// ValueError unless dest and source are one array or disjoint.
  void require_in_place_or_disjoint() const {
    if (dest.data() != source.data()) require_disjoint(function, dest, source);
  }

  /// Runs `action` without the GIL; a nonzero result is a RuntimeError.
  template <class Action>
  void run(Action action) const {
    int status = 0;
    {
      const Waiting waits(function);
      if (when_come) shmem_team_sync(team);
      status = action();
    }
    if (status != 0)
      state_error(text(function, ": the library refused the call; its message on standard error says why"));
  }

  const char* function;
  const Array dest, source;
  shmem_team_t team;
  size_t npes;
  bool when_come;  ///< touch the memory of a member only when it has come to the call
};

void all_gather(const char* function, nanobind::handle to, nanobind::handle from, const Team* team, bool when_come) {
  const Call call(function, to, from, team, when_come);
  call.require_ratio(call.dest, call.source, call.npes);
  require_disjoint(call.function, call.dest, call.source);
  call.run([&] { return shmem_fcollectmem(call.team, call.dest.data(), call.source.data(), call.source.nbytes()); });
}

void all_to_all(const char* function, nanobind::handle to, nanobind::handle from, const Team* team, bool when_come) {
  const Call call(function, to, from, team, when_come);
  call.require_ratio(call.dest, call.source, 1);
  if (call.source.elements() % call.npes)
    value_error(text(call.function, ": ", call.source.argument(), " has ", call.source.elements(),
                     " elements, which is no multiple of the team's ", call.npes, " PEs"));
  require_disjoint(call.function, call.dest, call.source);
  call.run([&] {
    return shmem_alltoallmem(call.team, call.dest.data(), call.source.data(), call.source.nbytes() / call.npes);
  });
}

void broadcast(const char* function, nanobind::handle to, nanobind::handle from, int root, const Team* team,
               bool when_come) {
  const Call call(function, to, from, team, when_come);
  call.require_ratio(call.dest, call.source, 1);
  call.require_in_place_or_disjoint();
  if (root < 0 || static_cast<size_t>(root) >= call.npes)
    value_error(text(call.function, ": root is ", root, ", and the team has the members 0 to ", call.npes - 1));
  call.run(
      [&] { return shmem_broadcastmem(call.team, call.dest.data(), call.source.data(), call.source.nbytes(), root); });
}

void all_reduce(const char* function, nanobind::handle to, nanobind::handle from, const char* op, const Team* team,
                bool when_come) {
  const Call call(function, to, from, team, when_come);
  call.require_ratio(call.dest, call.source, 1);
  call.require_in_place_or_disjoint();
  const Reduction reduction = all_reduction(call.function, op, call.source);
  call.run([&] { return reduction(call.team, call.dest.data(), call.source.data(), call.source.elements()); });
}

/// dest may be a part of source, but not share only some of its elements with a part.
void reduce_scatter(const char* function, nanobind::handle to, nanobind::handle from, const char* op, const Team* team,
                    bool when_come) {
  const Call call(function, to, from, team, when_come);
  call.require_ratio(call.source, call.dest, call.npes);
  const auto* dest = static_cast<const std::byte*>(call.dest.data());
  const auto* source = static_cast<const std::byte*>(call.source.data());
  const bool part = call.dest.nbytes() && dest >= source && dest < source + call.source.nbytes() &&
                    static_cast<size_t>(dest - source) % call.dest.nbytes() == 0;
  if (!part) require_disjoint(call.function, call.dest, call.source);
  const Reduction reduction = scattered_reduction(call.function, op, call.source);
  call.run([&] { return reduction(call.team, call.dest.data(), call.source.data(), call.dest.elements()); });
}

}  // namespace

void bind_collectives(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def("all_gather", all_gather, nb::arg("function"), nb::arg("dest").none(), nb::arg("source").none(),
             nb::arg("team").none(), nb::arg("when_come") = false);
  module.def("all_to_all", all_to_all, nb::arg("function"), nb::arg("dest").none(), nb::arg("source").none(),
             nb::arg("team").none(), nb::arg("when_come") = false);
  module.def("broadcast", broadcast, nb::arg("function"), nb::arg("dest").none(), nb::arg("source").none(),
             nb::arg("root"), nb::arg("team").none(), nb::arg("when_come") = false);
  module.def("all_reduce", all_reduce, nb::arg("function"), nb::arg("dest").none(), nb::arg("source").none(),
             nb::arg("op"), nb::arg("team").none(), nb::arg("when_come") = false);
  module.def("reduce_scatter", reduce_scatter, nb::arg("function"), nb::arg("dest").none(), nb::arg("source").none(),
             nb::arg("op"), nb::arg("team").none(), nb::arg("when_come") = false);
}

}  // namespace railshmem::python
