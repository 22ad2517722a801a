// SPDX-License-Identifier: BSD-3-Clause
//
// Signals without data: set, add, fetch and wait_until, alone and from all PEs at once.
#include "check.h"

static int me, npes, right;
static uint64_t global_signal;

static void test_set_and_add(uint64_t* sig) {
  check_step("set and add");
  *sig = 7;
  shmem_barrier_all();
  shmem_signal_add(sig, 5, right);
  CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_NE, 7), 12);
  CHECK_EQ(shmem_signal_fetch(sig), 12);
  shmem_barrier_all();
  shmem_signal_set(sig, UINT64_MAX - 1, right);
  CHECK(shmem_signal_wait_until(sig, SHMEM_CMP_GT, 12) == UINT64_MAX - 1, "%" PRIu64, shmem_signal_fetch(sig));
  shmem_barrier_all();
  shmem_signal_add(sig, 3, right);  // wraps
  CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_LT, 100), 1);
  shmem_barrier_all();
  shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, sig, 10, right);
  CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 11), 11);
  shmem_barrier_all();
  shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, sig, 4, right);
  CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_LE, 10), 4);
  shmem_barrier_all();
}

/// The C11 names take a context in front; without one they are the plain functions shmem_signal_add and its like.
static void test_generic(uint64_t* sig) {
  check_step("generic names");
  *sig = 0;
  shmem_barrier_all();
  shmem_signal_add(SHMEM_CTX_DEFAULT, sig, 2, right);
  CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 2), 2);
  shmem_barrier_all();
  shmem_signal_set(SHMEM_CTX_DEFAULT, sig, 9, right);
  CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 9), 9);
  shmem_barrier_all();
}

static void test_contention(uint64_t* sig, int rounds) {
  check_step("adds from all PEs to all PEs");
  *sig = 0;
  shmem_barrier_all();
  for (int r = 0; r < rounds; ++r)
    for (int pe = 0; pe < npes; ++pe) shmem_signal_add(sig, (uint64_t)me + 1, pe);
  const uint64_t want = (uint64_t)rounds * (uint64_t)npes * ((uint64_t)npes + 1) / 2;
  CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_GE, want), want);
  shmem_barrier_all();
  CHECK_EQ(shmem_signal_fetch(sig), want);
  shmem_barrier_all();
}

/// Ping-pong through sets: every value is seen, in order.
static void test_ping_pong(uint64_t* sig, int rounds) {
  check_step("ping-pong");
  const int partner = me % 2 ? me - 1 : (me + 1 < npes ? me + 1 : me);
  *sig = 0;
  shmem_barrier_all();
  for (uint64_t r = 1; r <= (uint64_t)rounds; ++r) {
    if (me <= partner) shmem_signal_set(sig, r, partner);
    CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_GE, r), r);
    if (me > partner) shmem_signal_set(sig, r, partner);
  }
  shmem_barrier_all();
}

int main(void) {
  check_begin("signal");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  uint64_t* heap_signal = check_alloc(sizeof(uint64_t));
  uint64_t* const words[] = {heap_signal, &global_signal};
  for (int i = 0; i < (check_globals() ? 2 : 1); ++i) {
    test_set_and_add(words[i]);
    test_generic(words[i]);
    test_contention(words[i], check_rounds(300));
    test_ping_pong(words[i], check_rounds(npes > 2 ? 100 : 500));
  }
  shmem_free(heap_signal);
  return check_end();
}
