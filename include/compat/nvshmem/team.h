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

/// Copies the fields of NVSHMEM's configuration, which also has room for an id, into ours.
RAILSHMEM_COMPAT_HOST const shmem_team_config_t* railshmem_compat_config(const nvshmem_team_config_t* theirs,
                                                                         shmem_team_config_t* ours) {
  if (!theirs) return NULL;
  ours->num_contexts = theirs->num_contexts;
  return ours;
}

RAILSHMEM_COMPAT_HOST void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config) {
  shmem_team_config_t ours;
  if (shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &ours) != 0) return;
  config->num_contexts = ours.num_contexts;
}
RAILSHMEM_COMPAT_HOST int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                                                     const nvshmem_team_config_t* config, long config_mask,
                                                     nvshmem_team_t* new_team) {
  shmem_team_config_t ours;
  return shmem_team_split_strided(parent, start, stride, size, railshmem_compat_config(config, &ours), config_mask,
                                  new_team);
}
RAILSHMEM_COMPAT_HOST int nvshmem_team_split_2d(nvshmem_team_t parent, int xrange, const nvshmem_team_config_t* xconfig,
                                                long xmask, nvshmem_team_t* xteam, const nvshmem_team_config_t* yconfig,
                                                long ymask, nvshmem_team_t* yteam) {
  shmem_team_config_t x;
  shmem_team_config_t y;
  return shmem_team_split_2d(parent, xrange, railshmem_compat_config(xconfig, &x), xmask, xteam,
                             railshmem_compat_config(yconfig, &y), ymask, yteam);
}
RAILSHMEM_COMPAT_HOST void nvshmem_team_destroy(nvshmem_team_t team) {
  shmem_team_destroy(team);
}

RAILSHMEM_COMPAT_HOST int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* uniqueid) {
  return shmemx_team_get_uniqueid(uniqueid);
}
/// The id is in the configuration.
RAILSHMEM_COMPAT_HOST int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long config_mask,
                                             int npes, int pe_idx_in_team) {
  shmem_team_config_t ours;
  if (!config) return NVSHMEMX_ERROR_INVALID_VALUE;
  return shmemx_team_init(config->uniqueid, npes, pe_idx_in_team, railshmem_compat_config(config, &ours),
                          config_mask & SHMEM_TEAM_NUM_CONTEXTS, team);
}

#endif
