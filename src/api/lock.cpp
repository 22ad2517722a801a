// SPDX-License-Identifier: BSD-3-Clause
// Locks: every name of include/shmem/lock.h.
#include "src/rma/lock.h"

#include "src/api/alias.h"

using namespace railshmem;

extern "C" {

void pshmem_set_lock(long* lock) {
  set_lock(pe_state("shmem_set_lock"), "shmem_set_lock", lock);
}
void pshmem_clear_lock(long* lock) {
  clear_lock(pe_state("shmem_clear_lock"), "shmem_clear_lock", lock);
}
int pshmem_test_lock(long* lock) {
  return test_lock(pe_state("shmem_test_lock"), "shmem_test_lock", lock) ? 0 : 1;
}
}
RAILSHMEM_LOCK_FUNCTIONS(RAILSHMEM_WEAK)
