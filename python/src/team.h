// SPDX-License-Identifier: BSD-3-Clause
// Teams as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shmem.h"

namespace railshmem::python {

/// A handle of a team. Copies nothing and destroys nothing by itself: destroy() is collective, a destructor must not
/// be.
class Team {
 public:
  static Team world();
  static Team shared();

  /// The team of npes PEs that call with this id, each as its member number pe; collective over them.
  static Team of_id(uint64_t id, int npes, int pe);

  /// Collective over this team. Nothing on members that are not in the new team.
  std::optional<Team> split_strided(int start, int stride, int size) const;
  /// Collective over this team: the teams of this member's row and column, in rows of xrange members.
  std::pair<Team, Team> split_2d(int xrange) const;

  int my_pe() const;
  int n_pes() const;
  /// The number in `other` of this team's member pe; nothing where it is no member there.
  std::optional<int> translate(int pe, const Team& other) const;
  void sync() const;
  void destroy();
  std::string describe() const;

  /// The handle for a call of `function`; RuntimeError where the team was destroyed or is of an earlier init().
  shmem_team_t use(const char* function) const;

 private:
  Team(shmem_team_t handle, std::string name);

  shmem_team_t handle_;
  unsigned run_;
  bool destroyed_ = false;
  std::string name_;
};

/// An id for Team::of_id, which one member makes and hands to the others.
uint64_t team_unique_id();

/// Forgets all teams, at the end of the library; returns the names of those that were not destroyed.
std::vector<std::string> forget_teams();

/// Adds the class Team.
void bind_team(nanobind::module_& module);

}  // namespace railshmem::python
