// SPDX-License-Identifier: BSD-3-Clause
//
// Teams made with SHMEM_THREAD_MULTIPLE: the threads of PE 0 make two at once, which the other PEs make one after the
// other.
#include <shmemx.h>

#include <chrono>
#include <functional>
#include <thread>

#include "check.h"

namespace {

constexpr auto kHeadStart = std::chrono::milliseconds(20);

int me, npes;
uint64_t* ids;  ///< symmetric

/// Every PE as a copy of the parent.
void split(shmem_team_t parent) {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  CHECK_EQ(shmem_team_split_strided(parent, 0, 1, npes, nullptr, 0, &team), 0);
  CHECK_EQ(shmem_team_my_pe(team), me);
  CHECK_EQ(shmem_team_sync(team), 0);
  shmem_team_destroy(team);
}

/// The first `size` PEs meet by the id of PE 0.
void meet(int which, int size) {
  if (me >= size) return;
  shmem_team_t team = SHMEM_TEAM_INVALID;
  CHECK_EQ(shmemx_team_init(ids[which], size, me, nullptr, 0, &team), 0);
  CHECK_EQ(shmem_team_n_pes(team), size);
  CHECK_EQ(shmem_team_sync(team), 0);
  shmem_team_destroy(team);
}

void get_ids() {
  if (me == 0)
    for (int i = 0; i < 2; ++i) CHECK_EQ(shmemx_team_get_uniqueid(&ids[i]), 0);
  shmem_barrier_all();
  shmem_uint64_get(ids, ids, 2, 0);
}

using Make = std::function<void()>;

/// A thread of PE 0 begins to make `early`, which the others make last.
void cross(const char* what, const Make& early, const Make& late) {
  check_step("%s", what);
  get_ids();
  if (me == 0) {
    std::thread beside(early);
    std::this_thread::sleep_for(kHeadStart);
    late();
    beside.join();
  } else {
    late();
    early();
  }
  shmem_barrier_all();
}

}  // namespace

int main() {
  check_prepare("team_threads");
  int granted = -1;
  CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &granted), 0);
  CHECK_EQ(granted, SHMEM_THREAD_MULTIPLE);
  me = shmem_my_pe();
  npes = shmem_n_pes();
  ids = static_cast<uint64_t*>(shmem_calloc(2, sizeof(uint64_t)));
  CHECK(ids != nullptr, "no memory for ids");
  shmem_team_t copy = SHMEM_TEAM_INVALID;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, nullptr, 0, &copy), 0);
  const Make split_world = [] { split(SHMEM_TEAM_WORLD); };
  const Make split_copy = [&] { split(copy); };
  const Make meet_all = [] { meet(0, npes); };
  const Make meet_pair = [] { meet(1, npes < 2 ? npes : 2); };
  for (int round = check_rounds(20); round > 0; --round) {
    cross("a split begins before a pair meets", split_world, meet_pair);
    cross("a pair meets before a split begins", meet_pair, split_world);
    cross("the world is split before its copy", split_world, split_copy);
    cross("a copy of the world is split before it", split_copy, split_world);
    cross("all meet before a pair meets", meet_all, meet_pair);
  }
  shmem_team_destroy(copy);
  shmem_free(ids);
  return check_end();
}
