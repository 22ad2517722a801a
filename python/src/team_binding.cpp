// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "python/src/team.h"

namespace railshmem::python {

void bind_team(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def("team_unique_id", team_unique_id);
  module.def("team_of_id", &Team::of_id, nb::arg("id"), nb::arg("npes"), nb::arg("pe"));
  nb::class_<Team>(
      module, "Team",
      "PEs that act together; members count from 0.\n\n"
      "Teams come from world(), shared() and splits. A split and destroy() are collective: every member calls them,\n"
      "in one order. Nothing happens when the garbage collector finds a team; finalize() names those that were not\n"
      "destroyed. A method raises RuntimeError for a team that was destroyed or is of an earlier init().")
      .def_static("world", &Team::world, "Returns the team of all PEs. Local.")
      .def_static("shared", &Team::shared, "Returns the team of the PEs whose memory this PE can map. Local.")
      .def_static(
          "from_group",
          [](nb::handle group) { return nb::module_::import_("railshmem._groups").attr("team_of")(group); },
          nb::arg("group"),
          "Makes the team of the processes of a torch.distributed group, with their ranks in the group.\n\n"
          "Collective over the group. Their PEs are in ascending or descending order, or at one stride; RuntimeError\n"
          "where they are not, and where this process is not in the group.")
      .def("split_strided", &Team::split_strided, nb::arg("start"), nb::arg("stride"), nb::arg("size"),
           "Makes a team of this team's members start, start + stride, and so on, size of them.\n\n"
           "Collective over this team, with equal arguments. Returns None on members that are not in the new team. "
           "Raises\n"
           "ValueError where the arguments name members that there are not.")
      .def("split_2d", &Team::split_2d, nb::arg("xrange"),
           "Lays this team out in rows of xrange members; returns the teams of this member's row and of its column.\n\n"
           "Collective over this team, with equal arguments.")
      .def("my_pe", &Team::my_pe, "Returns this PE's number in the team. Local.")
      .def("n_pes", &Team::n_pes, "Returns how many members the team has. Local.")
      .def("translate", &Team::translate, nb::arg("pe"), nb::arg("other"),
           "Returns the number in the team other of this team's member pe, or None where it is no member there. Local.")
      .def("sync", &Team::sync,
           "Waits until every member has called sync(). Collective. Completes no put; call railshmem.quiet() before.")
      .def("destroy", &Team::destroy,
           "Ends the team. Collective over its members. ValueError for world() and shared().")
      .def("__repr__", &Team::describe);
}

}  // namespace railshmem::python
