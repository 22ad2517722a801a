// SPDX-License-Identifier: BSD-3-Clause
//
// Ring: a token travels around all PEs, several laps; each PE adds its number before it passes the token on.
#include <shmem.h>
#include <stdio.h>

enum { kLaps = 100 };

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int npes = shmem_n_pes();
  const int next = (me + 1) % npes;

  // The token as it arrives, and how often it has arrived. calloc: zero on every PE before anyone goes on.
  long* token = shmem_calloc(1, sizeof(long));
  uint64_t* arrivals = shmem_calloc(1, sizeof(uint64_t));

  for (uint64_t lap = 1; lap <= kLaps; ++lap) {
    if (me == 0 && lap == 1) {
      // PE 0 starts the ring.
      const long first = 0;
      shmem_long_put_signal(token, &first, 1, arrivals, 1, SHMEM_SIGNAL_SET, next);
    }
    shmem_signal_wait_until(arrivals, SHMEM_CMP_GE, lap);
    if (me == 0 && lap == kLaps) break;  // the token is home
    // PE 0 sends it into the next lap.
    const long passed_on = *token + me;
    shmem_long_put_signal(token, &passed_on, 1, arrivals, me == 0 ? lap + 1 : lap, SHMEM_SIGNAL_SET, next);
  }

  int ok = 1;
  if (me == 0) {
    const long expected = (long)kLaps * npes * (npes - 1) / 2;
    ok = *token == expected;
    printf("ring: %d laps over %d PEs, sum %ld, expected %ld: %s\n", kLaps, npes, *token, expected,
           ok ? "passed" : "FAILED");
  }
  shmem_free(arrivals);
  shmem_free(token);
  shmem_finalize();
  return ok ? 0 : 1;
}
