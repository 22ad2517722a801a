// SPDX-License-Identifier: BSD-3-Clause
// Votes of the members of a team.
#include <shmemx.h>

#include "check.h"

namespace {

/// Each member in turn says no, all of them say no, all say yes with different values.
void vote(shmem_team_t team) {
  const int rank = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
  for (int round = 0; round < 3; ++round) {
    CHECK_EQ(shmemx_team_agree(team, rank + 1), 1);
    for (int no = 0; no < size; ++no) CHECK_EQ(shmemx_team_agree(team, rank != no), 0);
    CHECK_EQ(shmemx_team_agree(team, 0), 0);
    CHECK_EQ(shmemx_team_agree(team, rank - size), 1);
  }
}

}  // namespace

int main() {
  check_begin("team_agree");
  const int npes = shmem_n_pes(), me = shmem_my_pe();
  vote(SHMEM_TEAM_WORLD);
  vote(SHMEM_TEAM_SHARED);
  shmem_team_t half = SHMEM_TEAM_INVALID;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, nullptr, 0, &half), 0);
  if (me % 2 == 0) vote(half);
  if (me % 2 != 0) CHECK_EQ(shmemx_team_agree(half, 1), 0);  // not a member
  // A put before a vote has come when the others have voted too, if it was completed.
  long* const word = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  shmem_long_p(word, 7 + me, (me + 1) % npes);
  shmem_quiet();
  CHECK_EQ(shmemx_team_agree(SHMEM_TEAM_WORLD, 1), 1);
  CHECK_EQ(*word, 7 + (me + npes - 1) % npes);
  shmem_barrier_all();
  shmem_free(word);
  return check_end();
}
