// SPDX-License-Identifier: BSD-3-Clause
//
// A handle that is no team of the PE, given to every call that takes one, or to that named by the second argument. The
// first says which: "nothing" never was a team, "destroyed" was one, "earlier" was one before the library was started
// again, "invalid" is SHMEM_TEAM_INVALID. Ends with 0 when every call returned what it should.
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static shmem_team_t team;
static int word, more[16];
static long number, numbers[4];

static shmem_team_t new_team(void) {
  shmem_team_t made;
  return shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &made) == 0 ? made : NULL;
}

static int my_pe(void) {
  return shmem_team_my_pe(team) == -1;
}
static int n_pes(void) {
  return shmem_team_n_pes(team) == -1;
}
static int translate_pe(void) {
  return shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD) == -1 &&
         shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, team) == -1;
}
static int ptr(void) {
  return shmem_team_ptr(team, &word, 0) == NULL;
}
static int get_config(void) {
  shmem_team_config_t config;
  return shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0;
}
static int split_strided(void) {
  shmem_team_t made = SHMEM_TEAM_WORLD;
  return shmem_team_split_strided(team, 0, 1, 1, NULL, 0, &made) != 0 && made == SHMEM_TEAM_INVALID;
}
static int split_2d(void) {
  shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
  return shmem_team_split_2d(team, 1, NULL, 0, &x, NULL, 0, &y) != 0 && x == SHMEM_TEAM_INVALID &&
         y == SHMEM_TEAM_INVALID;
}
static int destroy(void) {
  shmem_team_destroy(team);
  return 1;
}
static int create_ctx(void) {
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  return shmem_team_create_ctx(team, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID;
}
static int sync_team(void) {
  return shmem_team_sync(team) != 0;
}
static int broadcastmem(void) {
  return shmem_broadcastmem(team, more, &word, sizeof word, 0) != 0;
}
static int int_fcollect(void) {
  return shmem_int_fcollect(team, more, &word, 1) != 0;
}
static int int_alltoalls(void) {
  return shmem_int_alltoalls(team, more, more + 8, 1, 1, 1) != 0;
}
static int long_sum_reduce(void) {
  return shmem_long_sum_reduce(team, numbers, &number, 1) != 0;
}
static int long_sum_inscan(void) {
  return shmem_long_sum_inscan(team, numbers, &number, 1) != 0;
}

static const struct {
  const char* name;
  int (*is_refused)(void);
} kCalls[] = {
    {"my_pe", my_pe},
    {"n_pes", n_pes},
    {"translate_pe", translate_pe},
    {"ptr", ptr},
    {"get_config", get_config},
    {"split_strided", split_strided},
    {"split_2d", split_2d},
    {"destroy", destroy},
    {"create_ctx", create_ctx},
    {"sync", sync_team},
    {"broadcastmem", broadcastmem},
    {"int_fcollect", int_fcollect},
    {"int_alltoalls", int_alltoalls},
    {"long_sum_reduce", long_sum_reduce},
    {"long_sum_inscan", long_sum_inscan},
};

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  alarm(40);
  shmem_init();
  team = SHMEM_TEAM_INVALID;
  if (strcmp(which, "nothing") == 0) team = (shmem_team_t)(intptr_t)77;
  if (strcmp(which, "destroyed") == 0 || strcmp(which, "earlier") == 0) team = new_team();
  if (strcmp(which, "destroyed") == 0) shmem_team_destroy(team);
  if (strcmp(which, "earlier") == 0) {
    shmem_finalize();
    shmem_init();
  }
  if (team != SHMEM_TEAM_INVALID) new_team();  // in the place of the old one
  int failed = 0;
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; ++i) {
    if (argc > 2 && strcmp(argv[2], kCalls[i].name) != 0) continue;
    if (kCalls[i].is_refused()) continue;
    printf("%s does not refuse the handle\n", kCalls[i].name);
    failed = 1;
  }
  shmem_finalize();
  return failed;
}
