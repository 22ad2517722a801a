// SPDX-License-Identifier: BSD-3-Clause
// Locks: every name of include/shmem/lock.h.
#include "src/rma/lock.h"

#include "src/api/entry.h"
#include "src/rma/probe.h"

using namespace railshmem;

extern "C" {

void pshmem_set_lock(long* lock) {
  PeState& state = pe_state("shmem_set_lock");
  RAILSHMEM_PROBE_PLAIN(lock, "shmem_set_lock", sizeof(long));
  set_lock(state, "shmem_set_lock", lock);
}
void pshmem_clear_lock(long* lock) {
  PeState& state = pe_state("shmem_clear_lock");
  RAILSHMEM_PROBE_PLAIN(lock, "shmem_clear_lock", sizeof(long));
  clear_lock(state, "shmem_clear_lock", lock);
}
int pshmem_test_lock(long* lock) {
  PeState& state = pe_state("shmem_test_lock");
  RAILSHMEM_PROBE_PLAIN(lock, "shmem_test_lock", sizeof(long));
  return test_lock(state, "shmem_test_lock", lock) ? 0 : 1;
}
}

RAILSHMEM_ALIAS(set_lock);
RAILSHMEM_ALIAS(clear_lock);
RAILSHMEM_ALIAS(test_lock);
