// SPDX-License-Identifier: BSD-3-Clause
// Teams of PEs that meet by an id, called by their members only.
#include <shmemx.h>

#include <algorithm>
#include <vector>

#include "check.h"

namespace {

int me, npes;
uint64_t* ids;  ///< symmetric: what the host of a meeting hands out
long* words;    ///< symmetric: one a PE

/// The world's PEs in the order of the team, or nothing.
using Order = std::vector<int>;

/// What the members of a new team do with it.
void use(shmem_team_t team, const Order& order, int rank) {
  CHECK_EQ(shmem_team_my_pe(team), rank);
  CHECK_EQ(shmem_team_n_pes(team), order.size());
  for (size_t i = 0; i < order.size(); ++i)
    CHECK_EQ(shmem_team_translate_pe(team, static_cast<int>(i), SHMEM_TEAM_WORLD), order[i]);
  long* const source = words;
  long* const all = words + 1;
  source[0] = 100 + me;
  CHECK_EQ(shmem_team_sync(team), 0);
  CHECK_EQ(shmem_long_fcollect(team, all, source, 1), 0);
  for (size_t i = 0; i < order.size(); ++i) CHECK_EQ(all[i], 100 + order[i]);
  CHECK_EQ(shmem_team_sync(team), 0);
  CHECK_EQ(shmem_long_max_reduce(team, all, source, 1), 0);
  CHECK_EQ(all[0], 100 + *std::max_element(order.begin(), order.end()));
  shmem_team_t half = SHMEM_TEAM_INVALID;  // teams of this one
  const int size = static_cast<int>(order.size());
  CHECK_EQ(shmem_team_split_strided(team, 0, 2, (size + 1) / 2, nullptr, 0, &half), 0);
  if (rank % 2 == 0) {
    CHECK_EQ(shmem_team_my_pe(half), rank / 2);
    CHECK_EQ(shmem_team_sync(half), 0);
    shmem_team_destroy(half);
  }
}

/// One member's call, and what it does with the team.
void join(const Order& order, bool possible) {
  const auto place = std::find(order.begin(), order.end(), me);
  if (place == order.end()) return;  // others do not take part
  const auto rank = static_cast<int>(place - order.begin());
  shmem_team_t team = SHMEM_TEAM_INVALID;
  const int status = shmemx_team_init(ids[0], static_cast<int>(order.size()), rank, nullptr, 0, &team);
  CHECK_EQ(status != 0, !possible);
  CHECK_EQ(team == SHMEM_TEAM_INVALID, !possible);
  if (!possible) return;
  use(team, order, rank);
  shmem_team_destroy(team);
}

void gather(const char* what, const Order& order, int host, bool possible = true) {
  check_step("%s", what);
  if (me == host) CHECK_EQ(shmemx_team_get_uniqueid(ids), 0);
  shmem_barrier_all();
  if (me != host) shmem_uint64_get(ids, ids, 1, host);  // by any means
  join(order, possible);
  shmem_barrier_all();  // nobody's id changes before it is read
}

/// A desk is used again, eight ids later, as soon as the host's call has returned, while other members may still be
/// leaving theirs.
void overtake(const Order& order, bool possible) {
  check_step("a desk used again at once, after %s team", possible ? "a" : "no");
  if (me == 0) CHECK_EQ(shmemx_team_get_uniqueid(ids), 0);
  shmem_barrier_all();
  const uint64_t id = shmem_uint64_g(ids, 0);
  shmem_barrier_all();
  const shmem_team_config_t config = {possible || me != npes - 1 ? 0 : -1};
  shmem_team_t team = SHMEM_TEAM_INVALID;
  const auto size = static_cast<int>(order.size());
  CHECK_EQ(shmemx_team_init(id, size, me, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) == 0, possible);
  if (me == 0) {
    for (int i = 0; i < 8; ++i) CHECK_EQ(shmemx_team_get_uniqueid(ids), 0);
    shmem_team_t alone = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmemx_team_init(ids[0], 1, 0, nullptr, 0, &alone), 0);
    shmem_team_destroy(alone);
  }
  if (possible) {
    CHECK_EQ(shmem_team_n_pes(team), size);
    CHECK_EQ(shmem_team_sync(team), 0);
    shmem_team_destroy(team);
  }
  shmem_barrier_all();
}

}  // namespace

int main() {
  check_begin("team_init");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  ids = static_cast<uint64_t*>(shmem_calloc(1, sizeof(uint64_t)));
  words = static_cast<long*>(shmem_calloc(static_cast<size_t>(npes) + 1, sizeof(long)));
  Order all, odd, apart;
  for (int pe = 0; pe < npes; ++pe) {
    all.push_back(pe);
    if (pe % 2 == 1) odd.push_back(pe);
    if (pe != 1) apart.push_back(pe);  // 0, 2, 3, ...: at no stride
  }
  for (int round = 0; round < 12; ++round) {  // more ids than desks
    gather("all PEs", all, round % npes);
    if (!odd.empty()) gather("odd PEs", odd, 0);
    gather("one PE", {npes - 1}, 0);
    gather("all but one", apart, npes - 1);
    gather("downwards", Order(all.rbegin(), all.rend()), npes / 2);
    gather("all but one, downwards", Order(apart.rbegin(), apart.rend()), 0);
  }
  for (int round = check_rounds(400); round > 0; --round) overtake(all, round % 8 != 0);
  if (npes >= 4) gather("in no order", {1, 0, 3, 2}, 0, false);
  check_step("what is no id");
  shmem_team_t team = SHMEM_TEAM_INVALID;
  constexpr uint64_t kFirst = uint64_t{1} << 32;
  for (const uint64_t none : {uint64_t{0}, kFirst + static_cast<uint64_t>(npes), kFirst + 0x80000000, ~uint64_t{0}})
    CHECK(shmemx_team_init(none, 1, 0, nullptr, 0, &team) != 0, "0x%" PRIx64 " is no id", none);
  CHECK(shmemx_team_get_uniqueid(nullptr) != 0, "NULL");
  CHECK_EQ(shmemx_team_get_uniqueid(ids), 0);
  CHECK(shmemx_team_init(ids[0], npes + 1, 0, nullptr, 0, &team) != 0, "too many members");
  CHECK(shmemx_team_init(ids[0], 1, 1, nullptr, 0, &team) != 0, "a number too high");
  const shmem_team_config_t config = {-1};
  CHECK(shmemx_team_init(ids[0], 1, 0, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) != 0, "a bad configuration");
  shmem_free(words);
  shmem_free(ids);
  return check_end();
}
