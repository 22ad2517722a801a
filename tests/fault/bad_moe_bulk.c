// SPDX-License-Identifier: BSD-3-Clause
//
// Mistakes with many tokens. "arguments": PE 1 makes all calls that the library must refuse, each with a message;
// status 0, which no test accepts, where one of them went unnoticed. The other words are mistakes while kernels run,
// and a PE that dies.
#include <shmem.h>
#include <shmemx_moe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRefused = 5, kTokens = 4, kHidden = 24, kPart = 1 << 16 };

static char* heap;
static size_t workspace;
static char* buffers;
static int32_t *numbers, *begins;
static int64_t* chosen;
static int unnoticed;
static shmemx_moe_bulk_config_t good = SHMEMX_MOE_BULK_CONFIG_INITIALIZER;
static shmemx_moe_bulk_dispatch_t dispatch = SHMEMX_MOE_BULK_DISPATCH_INITIALIZER;
static shmemx_moe_bulk_combine_t combine = SHMEMX_MOE_BULK_COMBINE_INITIALIZER;
static shmemx_moe_bulk_layout_t layout = SHMEMX_MOE_BULK_LAYOUT_INITIALIZER;

static void must_refuse(int result, const char* what) {
  if (result != 0) return;
  printf("%s went unnoticed\n", what);
  unnoticed = 1;
}

#define CONFIG(FIELD, VALUE)                                                        \
  do {                                                                              \
    shmemx_moe_bulk_config_t config = good;                                         \
    config.FIELD = (VALUE);                                                         \
    must_refuse(shmemx_moe_bulk_workspace_of(2, &config) == 0, "config's " #FIELD); \
  } while (0)
#define DISPATCH(FIELD, VALUE)                                                         \
  do {                                                                                 \
    shmemx_moe_bulk_dispatch_t one = dispatch;                                         \
    one.FIELD = (VALUE);                                                               \
    must_refuse(shmemx_moe_bulk_dispatch_on_stream(&one, NULL), "dispatch's " #FIELD); \
  } while (0)
#define COMBINE(FIELD, VALUE)                                                        \
  do {                                                                               \
    shmemx_moe_bulk_combine_t one = combine;                                         \
    one.FIELD = (VALUE);                                                             \
    must_refuse(shmemx_moe_bulk_combine_on_stream(&one, NULL), "combine's " #FIELD); \
  } while (0)
#define LAYOUT(FIELD, VALUE)                                                       \
  do {                                                                             \
    shmemx_moe_bulk_layout_t one = layout;                                         \
    one.FIELD = (VALUE);                                                           \
    must_refuse(shmemx_moe_bulk_layout_on_stream(&one, NULL), "layout's " #FIELD); \
  } while (0)

/// Collective calls in which PE 1 errs. PE 0 does not, and gets an error too.
static void refuse_together(int me) {
  shmemx_moe_bulk_t handle = NULL;
  must_refuse(shmemx_moe_bulk_create(SHMEM_TEAM_WORLD, &good, heap, workspace - (size_t)me, &handle),
              "a small workspace");
  must_refuse(shmemx_moe_bulk_create(SHMEM_TEAM_WORLD, &good, heap, workspace, me ? NULL : &handle),
              "no place for the handle");
  if (me == 0 && unnoticed) shmem_global_exit(0);
}

static void refuse_arguments(void) {
  CONFIG(size, 0);
  CONFIG(hidden, 12);
  CONFIG(hidden, 0);
  CONFIG(max_tokens, 1 << 20);
  CONFIG(type, SHMEMX_DATATYPE_FLOAT);
  CONFIG(words, 4097);
  CONFIG(multiprocessors, -1);
  must_refuse(shmemx_moe_bulk_workspace_of(65, &good) == 0, "65 members");
  must_refuse(shmemx_moe_bulk_workspace_between_nodes(1, &good) == 0, "one member between nodes");
  must_refuse(shmemx_moe_bulk_workspace_between_nodes(2, &good) > workspace, "no more memory between nodes");
  must_refuse(shmemx_moe_bulk_workspace(SHMEM_TEAM_INVALID, &good) == 0, "no team");
  DISPATCH(size, 1);
  DISPATCH(handle, NULL);
  DISPATCH(route.tokens, kTokens + 1);
  DISPATCH(route.room, -1);
  DISPATCH(route.numbers, NULL);
  DISPATCH(route.begins, NULL);
  DISPATCH(x_type, SHMEMX_DATATYPE_HALF);
  DISPATCH(x_type, SHMEMX_DATATYPE_FLOAT8_E4M3);  // kHidden is no multiple of 16
  DISPATCH(words, 3);
  DISPATCH(x, NULL);
  DISPATCH(rows, buffers + 8);
  DISPATCH(row_words, NULL);
  COMBINE(size, 1);
  COMBINE(handle, NULL);
  COMBINE(rows, buffers + 8);
  COMBINE(out, NULL);
  LAYOUT(size, 1);
  LAYOUT(handle, NULL);
  LAYOUT(tokens, 1 << 20);
  LAYOUT(topk, 33);
  LAYOUT(experts, 3);
  LAYOUT(experts, 1026);
  LAYOUT(chosen, NULL);
  LAYOUT(goes, (const uint8_t*)buffers);
  LAYOUT(numbers, (int32_t*)(buffers + 2));
  LAYOUT(begins, NULL);
  LAYOUT(on_host, (uint64_t*)(buffers + 4));
  must_refuse(shmemx_moe_bulk_destroy(NULL), "destroying nothing");
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
  } else if (strcmp(name, "number") == 0) {
    if (me == 1) numbers[2] = kTokens;
    give(shmemx_moe_bulk_dispatch_on_stream(&dispatch, NULL));
  } else if (strcmp(name, "room") == 0) {
    if (me == 1) dispatch.route.room = 3;
    give(shmemx_moe_bulk_dispatch_on_stream(&dispatch, NULL));
  } else if (strcmp(name, "lonely_dispatch") == 0) {
    if (me == 1) give(shmemx_moe_bulk_dispatch_on_stream(&dispatch, NULL));
  } else if (strcmp(name, "lonely_combine") == 0) {
    give(shmemx_moe_bulk_dispatch_on_stream(&dispatch, NULL));
    if (me == 1) give(shmemx_moe_bulk_combine_on_stream(&combine, NULL));
  } else if (strcmp(name, "lonely_layout") == 0) {
    if (me == 1) give(shmemx_moe_bulk_layout_on_stream(&layout, NULL));
  } else if (strcmp(name, "expert") == 0) {
    if (me == 1) chosen[3] = 4;
    give(shmemx_moe_bulk_layout_on_stream(&layout, NULL));
  } else if (strcmp(name, "killed") == 0) {
    if (me == 1) raise(SIGKILL);
    give(shmemx_moe_bulk_dispatch_on_stream(&dispatch, NULL));
  }
  sleep(30);
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  if (shmemx_attach_device() != 0) return 0;
  good.hidden = kHidden;
  good.max_tokens = kTokens;
  good.words = 2;
  workspace = shmemx_moe_bulk_workspace(SHMEM_TEAM_WORLD, &good);
  heap = shmem_malloc(workspace);
  buffers = shmem_malloc(kPart);
  if (heap == NULL || buffers == NULL) return 0;
  if (shmemx_moe_bulk_create(SHMEM_TEAM_WORLD, &good, heap, workspace, &dispatch.handle) != 0) return 0;
  // Every token goes to both PEs.
  numbers = (int32_t*)buffers;
  begins = (int32_t*)(buffers + 512);
  for (int i = 0; i < 2 * kTokens; ++i) numbers[i] = i / 2;
  for (int i = 0; i < 3; ++i) begins[i] = i * kTokens;
  dispatch.route.tokens = kTokens;
  dispatch.route.room = 2 * kTokens;
  dispatch.route.numbers = numbers;
  dispatch.route.begins = begins;
  dispatch.words = 1;
  dispatch.x = combine.out = buffers + 1024;
  dispatch.x_words = dispatch.row_words = buffers + 4096;
  dispatch.rows = buffers + 8192;
  combine.handle = dispatch.handle;
  combine.route = dispatch.route;
  combine.rows = buffers + 8192;
  // Each token has one of four experts.
  chosen = (int64_t*)(buffers + 16384);
  for (int i = 0; i < kTokens; ++i) chosen[i] = i;
  layout.handle = dispatch.handle;
  layout.tokens = kTokens;
  layout.topk = 1;
  layout.experts = 4;
  layout.chosen = chosen;
  layout.begins = begins + 64;
  layout.received = begins + 68;
  shmem_barrier_all();
  act(name, shmem_my_pe());
  return 0;
}
