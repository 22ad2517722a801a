// SPDX-License-Identifier: BSD-3-Clause
//
// What teams answer: the predefined ones, translation, configuration, addresses; what SHMEM_TEAM_INVALID gives; which
// splits fail, and that they fail on all PEs alike.
#include "check.h"

static int me, npes;

static void predefined(void) {
  check_step("the predefined teams");
  CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), me);
  CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), npes);
  // The node's PEs are exactly those whose heap can be loaded from and stored to.
  long* heap = (long*)check_alloc(sizeof *heap);
  int near_pes = 0;
  for (int pe = 0; pe < npes; ++pe) {
    const int in_team = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED);
    CHECK_EQ(in_team >= 0, shmem_ptr(heap, pe) != NULL);
    if (in_team >= 0) CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_SHARED, in_team, SHMEM_TEAM_WORLD), pe);
    near_pes += in_team >= 0;
  }
  CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_SHARED), near_pes);
  CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_SHARED, shmem_team_my_pe(SHMEM_TEAM_SHARED), SHMEM_TEAM_WORLD), me);
  for (int i = 0; i < near_pes; ++i) {
    const int pe = shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD);
    CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, heap, i) == shmem_ptr(heap, pe), "PE %d of the node, %d of the world", i,
          pe);
  }
  for (int pe = 0; pe < npes; ++pe)
    CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, heap, pe) == shmem_ptr(heap, pe), "PE %d", pe);
  CHECK_EQ(shmem_team_sync(SHMEM_TEAM_SHARED), 0);
  CHECK_EQ(shmem_sync(SHMEM_TEAM_WORLD), 0);
  shmem_free(heap);
}

static void invalid(void) {
  check_step("SHMEM_TEAM_INVALID");
  shmem_team_config_t config = {77};
  shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
  CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
  CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
  CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD), -1);
  CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID), -1);
  CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0, "get_config gave 0");
  CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, NULL) != 0, "get_config with mask 0 gave 0");
  CHECK_EQ(config.num_contexts, 77);
  CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, &config, 0) == NULL, "an address in no team");
  CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &x) != 0, "a split of nothing gave 0");
  CHECK(x == SHMEM_TEAM_INVALID, "a team of nothing");
  x = SHMEM_TEAM_WORLD;
  CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &x, NULL, 0, &y) != 0, "a split of nothing gave 0");
  CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID, "teams of nothing");
  shmem_team_destroy(SHMEM_TEAM_INVALID);
}

static void translation(void) {
  check_step("translation between teams");
  CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_WORLD), -1);
  CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, npes, SHMEM_TEAM_WORLD), -1);
  shmem_team_t even, back;
  const int size = (npes + 1) / 2;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, size, NULL, 0, &even), 0);
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back), 0);
  CHECK_EQ(even != SHMEM_TEAM_INVALID, me % 2 == 0);
  for (int pe = 0; pe < npes; ++pe) {
    CHECK_EQ(shmem_team_translate_pe(back, pe, SHMEM_TEAM_WORLD), npes - 1 - pe);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, back), npes - 1 - pe);
    if (even == SHMEM_TEAM_INVALID) continue;
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, even), pe % 2 == 0 ? pe / 2 : -1);
    CHECK_EQ(shmem_team_translate_pe(back, npes - 1 - pe, even), pe % 2 == 0 ? pe / 2 : -1);
  }
  shmem_team_destroy(even);
  shmem_team_destroy(back);
}

static void configuration(void) {
  check_step("configurations");
  shmem_team_config_t config = {3};
  shmem_team_t team;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team), 0);
  shmem_team_config_t got = {77};
  CHECK_EQ(shmem_team_get_config(team, 0, NULL), 0);
  CHECK_EQ(shmem_team_get_config(team, 0, &got), 0);
  CHECK_EQ(got.num_contexts, 77);
  CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
  CHECK_EQ(got.num_contexts, 3);
  shmem_team_destroy(team);
  // A field that the mask does not select keeps its default.
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, 0, &team), 0);
  CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
  CHECK_EQ(got.num_contexts, 0);
  shmem_team_destroy(team);
  check_step("PEs that differ in a configuration they have no part in");
  config.num_contexts = me == 0 ? 1 : 2;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, &config, SHMEM_TEAM_NUM_CONTEXTS, &team), 0);
  if (me == 0) {
    CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK_EQ(got.num_contexts, 1);
  }
  shmem_team_destroy(team);
}

static void bad_triplets(void) {
  const struct {
    int start, stride, size;
  } bad[] = {{0, 1, npes + 1}, {-1, 1, 1},           {npes, 1, 1},      {0, 1, 0}, {0, 1, -1},
             {0, -1, 2},       {npes - 1, 1, 2},     {0, npes, 2},      {0, 0, 2}, {npes / 2, npes, 2},
             {0, 1 << 30, 4},  {npes - 1, -npes, 2}, {0, -(1 << 30), 3}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    check_step("the triplet %d, %d, %d", bad[i].start, bad[i].stride, bad[i].size);
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, bad[i].start, bad[i].stride, bad[i].size, NULL, 0, &team) != 0,
          "gave 0");
    CHECK(team == SHMEM_TEAM_INVALID, "gave a team");
  }
  for (int xrange = -1; xrange <= 0; ++xrange) {
    check_step("rows of %d", xrange);
    shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y) != 0, "gave 0");
    CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID, "gave a team");
  }
  check_step("a configuration that one member cannot have");
  shmem_team_config_t config = {me == npes - 1 ? -1 : 1};
  shmem_team_t team = SHMEM_TEAM_WORLD;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) != 0, "gave 0");
  CHECK(team == SHMEM_TEAM_INVALID, "gave a team");
}

/// Splits until there is no room; the last one fails on all PEs, and those before work on.
static void exhaustion(void) {
  enum { kMany = 1024 };
  static shmem_team_t teams[kMany];
  int made = 0;
  check_step("as many teams as there is room for");
  while (made < kMany && shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[made]) == 0) ++made;
  CHECK(made >= 64 && made < kMany, "%d teams", made);
  CHECK(teams[made] == SHMEM_TEAM_INVALID, "a team without room");
  shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
  shmem_team_destroy(teams[--made]);  // room for one of two
  CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &y) != 0,
        "two teams where there is room for one");
  CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID, "teams without room");
  for (int i = 0; i < made; ++i) CHECK_EQ(shmem_team_sync(teams[i]), 0);
  check_step("room again");
  shmem_team_destroy(teams[--made]);
  CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &y), 0);
  shmem_team_destroy(x);
  shmem_team_destroy(y);
  while (made > 0) shmem_team_destroy(teams[--made]);
}

int main(void) {
  check_begin("teams");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  predefined();
  invalid();
  translation();
  configuration();
  bad_triplets();
  exhaustion();
  // Left for finalize to destroy.
  shmem_team_t left;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &left), 0);
  return check_end();
}
