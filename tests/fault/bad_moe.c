// SPDX-License-Identifier: BSD-3-Clause
//
// Mistakes with mixtures of experts. "arguments": PE 1 makes all calls that the library must refuse, each with a
// message; status 0, which no test accepts, where one of them went unnoticed. The other words are mistakes while
// kernels run, and PEs that die.
#include <shmem.h>
#include <shmemx_moe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRefused = 5, kTokens = 4, kHidden = 16, kTopk = 2, kExperts = 4, kPart = 1 << 16 };

static char* heap;
static size_t workspace;
static char* buffers;
static int64_t* experts;
static int unnoticed;
static shmemx_moe_config_t good = SHMEMX_MOE_CONFIG_INITIALIZER;
static shmemx_moe_dispatch_t dispatch = SHMEMX_MOE_DISPATCH_INITIALIZER;
static shmemx_moe_combine_t combine = SHMEMX_MOE_COMBINE_INITIALIZER;

static void must_refuse(int result, const char* what) {
  if (result != 0) return;
  printf("%s went unnoticed\n", what);
  unnoticed = 1;
}
static void refuse_config(shmemx_moe_config_t config, const char* what) {
  must_refuse(shmemx_moe_workspace(SHMEM_TEAM_WORLD, &config) == 0, what);
}
static void refuse_dispatch(shmemx_moe_dispatch_t one, const char* what) {
  must_refuse(shmemx_moe_dispatch_on_stream(&one, NULL), what);
}

#define CONFIG(FIELD, VALUE)                   \
  do {                                         \
    shmemx_moe_config_t config = good;         \
    config.FIELD = (VALUE);                    \
    refuse_config(config, "config's " #FIELD); \
  } while (0)
#define DISPATCH(FIELD, VALUE)                  \
  do {                                          \
    shmemx_moe_dispatch_t one = dispatch;       \
    one.FIELD = (VALUE);                        \
    refuse_dispatch(one, "dispatch's " #FIELD); \
  } while (0)

/// Collective calls in which PE 1 errs. PE 0 does not, and gets an error too.
static void refuse_together(int me) {
  shmemx_moe_t handle = NULL;
  char* const outside = calloc(1, workspace);
  must_refuse(shmemx_moe_create(SHMEM_TEAM_WORLD, &good, heap, workspace - (size_t)me, &handle), "a small workspace");
  must_refuse(shmemx_moe_create(SHMEM_TEAM_WORLD, &good, me ? outside : heap, workspace, &handle),
              "a workspace elsewhere");
  must_refuse(shmemx_moe_create(SHMEM_TEAM_WORLD, &good, heap, workspace, me ? NULL : &handle),
              "no place for the handle");
  free(outside);
  if (me == 0 && unnoticed) shmem_global_exit(0);
}

static void refuse_arguments(void) {
  CONFIG(size, 0);
  CONFIG(type, SHMEMX_DATATYPE_FLOAT);
  CONFIG(dispatch_type, SHMEMX_DATATYPE_HALF);
  CONFIG(dispatch_type, SHMEMX_DATATYPE_FLOAT8_E4M3);  // kHidden is no multiple of 128
  CONFIG(experts, 5);
  CONFIG(experts, 0);
  CONFIG(topk, 33);
  CONFIG(hidden, 12);
  CONFIG(max_tokens, 1 << 20);
  CONFIG(multiprocessors, -1);
  CONFIG(late_weights, 2);
  CONFIG(scale_type, 3);
  CONFIG(x_scaled, 2);
  CONFIG(x_scaled, 1);  // and dispatch_type is type
  CONFIG(maskable, 2);
  CONFIG(mask_after_ms, -1);
  CONFIG(mask_after_ms, 1);  // and maskable is 0
  CONFIG(zeroed, 2);
  must_refuse(shmemx_moe_workspace_of(0, &good) == 0, "no members");
  must_refuse(shmemx_moe_workspace_of(2, &good) == workspace, "another workspace for as many members");
  must_refuse(shmemx_moe_workspace_between_nodes(1, &good) == 0, "one member between nodes");
  shmemx_moe_t handle = NULL;
  must_refuse(shmemx_moe_create(SHMEM_TEAM_INVALID, &good, heap, workspace, &handle), "an invalid team");
  DISPATCH(size, 1);
  DISPATCH(handle, NULL);
  DISPATCH(tokens, kTokens + 1);
  DISPATCH(hook, 2);
  DISPATCH(x, NULL);
  DISPATCH(rows, buffers + 8);
  DISPATCH(counts, NULL);
  DISPATCH(x_scales, (const float*)buffers);
  must_refuse(shmemx_moe_combine_on_stream(&combine, NULL), "a combine without a dispatch");
  must_refuse(shmemx_moe_complete_on_stream(dispatch.handle, NULL), "completing nothing");
  must_refuse(shmemx_moe_destroy(NULL), "destroying nothing");
  must_refuse(shmemx_moe_mask_on_stream(NULL, 0, NULL), "masking without a handle");
  must_refuse(shmemx_moe_mask_on_stream(dispatch.handle, 0, NULL), "masking without maskable");
  if (!unnoticed) shmem_global_exit(kRefused);
}

static void refuse_masks(shmem_team_t self) {
  must_refuse(shmemx_moe_mask_on_stream(dispatch.handle, 2, NULL), "masking a member that does not exist");
  must_refuse(shmemx_moe_mask_on_stream(dispatch.handle, 1, NULL), "masking oneself");
  must_refuse(shmemx_moe_unmask_on_stream(dispatch.handle, -2, NULL), "taking back a member that does not exist");
  must_refuse(shmemx_moe_masked_on_stream(dispatch.handle, NULL, NULL), "no place for the mask");
  shmemx_moe_config_t alone = good;
  shmemx_moe_t handle = NULL;
  alone.mask_of = dispatch.handle;
  alone.zeroed = 1;
  must_refuse(shmemx_moe_create(self, &alone, heap, workspace, &handle), "the mask of another team");
  if (!unnoticed) shmem_global_exit(kRefused);
}

static void give(int result) {
  if (result != 0) exit(0);
}

/// What PE 1 does; PE 0 makes its calls and waits for the end.
static void act(const char* name, int me) {
  if (strcmp(name, "arguments") == 0) {
    refuse_together(me);
    if (me == 1) refuse_arguments();
  } else if (strcmp(name, "masks") == 0) {
    shmem_team_t self = SHMEM_TEAM_INVALID;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 1, NULL, 0, &self) != 0) exit(0);
    if (me == 1) refuse_masks(self);
  } else if (strcmp(name, "masks_unfinished") == 0) {
    dispatch.hook = 1;
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
    if (shmemx_moe_unmask_on_stream(dispatch.handle, -1, NULL) != 0) shmem_global_exit(kRefused);
  } else if (strcmp(name, "masks_back") == 0) {
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
    give(shmemx_moe_unmask_on_stream(dispatch.handle, -1, NULL));
    if (shmemx_moe_combine_on_stream(&combine, NULL) != 0) shmem_global_exit(kRefused);
  } else if (strcmp(name, "masks_lonely") == 0) {  // no wait masks
    if (me == 1) give(shmemx_moe_meet_on_stream(dispatch.handle, NULL));
  } else if (strcmp(name, "masks_one_side") == 0) {  // PE 0 masks PE 1, which does not know
    if (me == 0) give(shmemx_moe_mask_on_stream(dispatch.handle, 1, NULL));
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
  } else if (strcmp(name, "masks_killed") == 0) {
    if (me == 1) raise(SIGKILL);
    give(shmemx_moe_mask_on_stream(dispatch.handle, 1, NULL));
  } else if (strcmp(name, "unfinished") == 0) {
    dispatch.hook = 1;
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
    if (shmemx_moe_combine_on_stream(&combine, NULL) != 0) shmem_global_exit(kRefused);
  } else if (strcmp(name, "twice") == 0) {
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
    give(shmemx_moe_combine_on_stream(&combine, NULL));
    if (shmemx_moe_combine_on_stream(&combine, NULL) != 0) shmem_global_exit(kRefused);
  } else if (strcmp(name, "weights") == 0) {
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
    combine.weights = (const float*)buffers;
    if (shmemx_moe_combine_on_stream(&combine, NULL) != 0) shmem_global_exit(kRefused);
  } else if (strcmp(name, "late_weights") == 0) {
    dispatch.weights = (const float*)buffers;
    if (shmemx_moe_dispatch_on_stream(&dispatch, NULL) != 0) shmem_global_exit(kRefused);
  } else if (strcmp(name, "no_late_weights") == 0) {
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
    if (shmemx_moe_combine_on_stream(&combine, NULL) != 0) shmem_global_exit(kRefused);
  } else if (strcmp(name, "expert") == 0) {
    experts[1] = kExperts;
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
  } else if (strcmp(name, "lonely_dispatch") == 0) {
    if (me == 1) give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
  } else if (strcmp(name, "lonely_combine") == 0) {
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
    if (me == 1) give(shmemx_moe_combine_on_stream(&combine, NULL));
  } else if (strcmp(name, "lonely_late_weights") == 0) {
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
    combine.weights = (const float*)buffers;
    if (me == 1) give(shmemx_moe_combine_on_stream(&combine, NULL));
  } else if (strcmp(name, "killed_before") == 0) {
    if (me == 1) raise(SIGKILL);
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
  } else if (strcmp(name, "killed_between") == 0) {
    give(shmemx_moe_dispatch_on_stream(&dispatch, NULL));
    sleep(1);  // so long that the dispatch is over: its end is no subject here
    if (me == 1) raise(SIGKILL);
    give(shmemx_moe_combine_on_stream(&combine, NULL));
  }
  sleep(30);
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  if (shmemx_attach_device() != 0) return 0;
  good.experts = kExperts;
  good.topk = kTopk;
  good.hidden = kHidden;
  good.max_tokens = kTokens;
  good.late_weights = strstr(name, "late_weights") != NULL;
  good.maskable = strncmp(name, "masks", 5) == 0;
  workspace = shmemx_moe_workspace(SHMEM_TEAM_WORLD, &good);
  heap = shmem_malloc(workspace);
  buffers = shmem_malloc(kPart);
  if (heap == NULL || buffers == NULL) return 0;
  if (shmemx_moe_create(SHMEM_TEAM_WORLD, &good, heap, workspace, &dispatch.handle) != 0) return 0;
  experts = (int64_t*)buffers;
  // Every token has an expert on each of the two PEs.
  for (int i = 0; i < kTokens * kTopk; ++i) experts[i] = i % 2 * 2;
  combine.handle = dispatch.handle;
  dispatch.tokens = kTokens;
  dispatch.experts = experts;
  dispatch.x = combine.out = buffers + 1024;
  dispatch.counts = (int32_t*)(buffers + 4096);
  dispatch.rows = buffers + 8192;
  combine.rows = buffers + 8192;
  shmem_barrier_all();
  act(name, shmem_my_pe());
  return 0;
}
