// SPDX-License-Identifier: BSD-3-Clause
//
// Teams. NVSHMEMX_TEAM_NODE is SHMEM_TEAM_SHARED: PEs that reach each other by load and store.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_TEAM_H
#define RAILSHMEM_COMPAT_NVSHMEM_TEAM_H

#include "nvshmem/constants.h"

RAILSHMEM_COMPAT(int, nvshmem_team_my_pe, (nvshmem_team_t team), shmem_team_my_pe, (team))
RAILSHMEM_COMPAT(int, nvshmem_team_n_pes, (nvshmem_team_t team), shmem_team_n_pes, (team))
RAILSHMEM_COMPAT(int, nvshmem_team_translate_pe, (nvshmem_team_t src_team, int src_pe, nvshmem_team_t dest_team),
                 shmem_team_translate_pe, (src_team, src_pe, dest_team))

RAILSHMEM_COMPAT_HOST void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config) {
  (void)shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, config);
}
RAILSHMEM_COMPAT_HOST int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                                                     const nvshmem_team_config_t* config, long config_mask,
                                                     nvshmem_team_t* new_team) {
  return shmem_team_split_strided(parent, start, stride, size, config, config_mask, new_team);
}
RAILSHMEM_COMPAT_HOST int nvshmem_team_split_2d(nvshmem_team_t parent, int xrange, const nvshmem_team_config_t* xconfig,
                                                long xmask, nvshmem_team_t* xteam, const nvshmem_team_config_t* yconfig,
                                                long ymask, nvshmem_team_t* yteam) {
  return shmem_team_split_2d(parent, xrange, xconfig, xmask, xteam, yconfig, ymask, yteam);
}
RAILSHMEM_COMPAT_HOST void nvshmem_team_destroy(nvshmem_team_t team) {
  shmem_team_destroy(team);
}

#endif
