// SPDX-License-Identifier: BSD-3-Clause
//
// failed_create WHAT SYMBOL NTH: a call of the driver fails on PE 1 while all PEs make WHAT together: its NTH call of
// SYMBOL from then on, or with 0 all of them. All PEs must get an error, and none may wait for PE 1. What they make
// afterwards is well, but for "attach", which stays impossible.
#include <shmem.h>
#include <shmemx_moe.h>
#include <shmemx_overlap.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver_call.h"

enum { kOutOfMemory = 2, kUnnoticed = 5, kUnusable = 6, kBytes = 72 << 20 };

static void* memory;

static int make_attach(void) {
  return shmemx_attach_device();
}

static int make_moe(void) {
  shmemx_moe_config_t config = SHMEMX_MOE_CONFIG_INITIALIZER;
  config.experts = 4;
  config.topk = 2;
  config.hidden = 16;
  config.max_tokens = 4;
  shmemx_moe_t handle = NULL;
  const int result = shmemx_moe_create(SHMEM_TEAM_WORLD, &config, memory, kBytes, &handle);
  if (result == 0) shmemx_moe_destroy(handle);
  return result;
}

static int make_moe_bulk(void) {
  shmemx_moe_bulk_config_t config = SHMEMX_MOE_BULK_CONFIG_INITIALIZER;
  config.hidden = 16;
  config.max_tokens = 4;
  shmemx_moe_bulk_t handle = NULL;
  const int result = shmemx_moe_bulk_create(SHMEM_TEAM_WORLD, &config, memory, kBytes, &handle);
  if (result == 0) shmemx_moe_bulk_destroy(handle);
  return result;
}

static int make_overlap(void) {
  shmemx_overlap_t handle = NULL;
  const int result = shmemx_overlap_create(SHMEM_TEAM_WORLD, memory, kBytes, &handle);
  if (result == 0) shmemx_overlap_destroy(handle);
  return result;
}

static const struct {
  const char* name;
  int (*make)(void);
} kinds[] = {{"attach", make_attach}, {"moe", make_moe}, {"moe_bulk", make_moe_bulk}, {"overlap", make_overlap}};

int main(int argc, char** argv) {
  if (argc != 4) return kRefused;
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  const int attaches = strcmp(argv[1], "attach") == 0;
  if (!attaches && (memory = shmem_malloc(kBytes)) == NULL) return kRefused;
  int (*make)(void) = NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(kinds[i].name, argv[1]) == 0) make = kinds[i].make;
  if (make == NULL) return kRefused;
  if (shmem_my_pe() == 1)
    call("railshmem_fake_fail", (uintptr_t)argv[2], (uintptr_t)strtoul(argv[3], NULL, 10), kOutOfMemory);
  if (make() == 0) return kUnnoticed;
  if ((make() != 0) != attaches) return kUnusable;
  printf("PE %d: all PEs got the error\n", shmem_my_pe());
  shmem_finalize();
  return 0;
}
