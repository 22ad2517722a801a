// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/members.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

#include "python/src/errors.h"
#include "python/src/state.h"
#include "python/src/team.h"
#include "python/src/waiting.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

/// What one member tells one other in an exchange.
constexpr size_t kWords = 2;

/// Words of each PE for each PE, sent and received. An exchange uses a place that is free on all members. No thread
/// waits for one: a thread that has a place waits for the other members, whose threads may take two teams in another
/// order.
struct Place {
  std::mutex in_use;
  uint64_t* sent = nullptr;
  uint64_t* received = nullptr;
};
std::array<Place, 4> g_places;

shmem_team_t handle_of(const char* function, const Team* team) {
  require_running(function);
  return team ? team->use(function) : SHMEM_TEAM_WORLD;
}

/// This PE's number in the team, and the PEs of all members.
std::pair<int, std::vector<int>> members(const char* function, const Team* team) {
  const shmem_team_t handle = handle_of(function, team);
  std::vector<int> pes(static_cast<size_t>(shmem_team_n_pes(handle)));
  for (size_t i = 0; i < pes.size(); ++i)
    pes[i] = shmem_team_translate_pe(handle, static_cast<int>(i), SHMEM_TEAM_WORLD);
  return {shmem_team_my_pe(handle), pes};
}

/// Equal for one team, whatever names it.
uintptr_t team_key(const char* function, const Team* team) {
  return reinterpret_cast<uintptr_t>(handle_of(function, team));
}

void sync(const char* function, const Team* team) {
  const shmem_team_t handle = handle_of(function, team);
  const Waiting waits(function);
  shmem_team_sync(handle);
}

/// Whether all members said yes.
bool agree(const char* function, bool yes, const Team* team) {
  const shmem_team_t handle = handle_of(function, team);
  const Waiting waits(function);
  return shmemx_team_agree(handle, yes ? 1 : 0) != 0;
}

/// Words 2k and 2k + 1 go to member k; returns the two of each member for this one.
std::vector<uint64_t> exchange_words(const char* function, const std::vector<uint64_t>& words, const Team* team) {
  const shmem_team_t handle = handle_of(function, team);
  if (words.size() != kWords * static_cast<size_t>(shmem_team_n_pes(handle)))
    value_error(text(function, ": ", words.size(), " words are not two for each member"));
  const Waiting waits(function);
  for (size_t turn = 0;; ++turn) {
    Place& place = g_places[turn % g_places.size()];
    const std::unique_lock mine(place.in_use, std::try_to_lock);
    if (shmemx_team_agree(handle, mine.owns_lock() ? 1 : 0) == 0) continue;
    std::copy(words.begin(), words.end(), place.sent);
    shmem_alltoallmem(handle, place.received, place.sent, kWords * sizeof(uint64_t));
    return {place.received, place.received + words.size()};
  }
}

}  // namespace

bool reserve_words() {
  const size_t words = kWords * static_cast<size_t>(shmem_n_pes());
  auto* at = static_cast<uint64_t*>(shmemx_malloc_host(2 * words * g_places.size() * sizeof(uint64_t)));
  if (at == nullptr) return false;
  for (Place& place : g_places) {
    place.sent = std::exchange(at, at + words);
    place.received = std::exchange(at, at + words);
  }
  return true;
}

void bind_members(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def("members", members, nb::arg("function"), nb::arg("team").none());
  module.def("team_key", team_key, nb::arg("function"), nb::arg("team").none());
  module.def("sync", sync, nb::arg("function"), nb::arg("team").none());
  module.def("agree", agree, nb::arg("function"), nb::arg("yes"), nb::arg("team").none());
  module.def("exchange_words", exchange_words, nb::arg("function"), nb::arg("words"), nb::arg("team").none());
}

}  // namespace railshmem::python
