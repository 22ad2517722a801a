// SPDX-License-Identifier: BSD-3-Clause
//
// quiet: what it completed is visible to every PE, whichever PE tells of it. Three litmus tests over many rounds, and
// pe_quiet.
#include "check.h"

static int me, npes, right;

/// Message passing over three PEs: data goes to the right, then, after quiet, a flag to the one beyond, who asks the
/// first one's right neighbour for the data.
static void test_message_passing(long* data, long* flag, int rounds) {
  const int beyond = (me + 2) % npes;
  const int writer = (me + 2 * npes - 2) % npes;  // whose flag arrives here
  const int holder = (writer + 1) % npes;         // where its data is
  check_step("message passing");
  *data = 0;
  *flag = 0;
  shmem_barrier_all();
  for (long r = 1; r <= rounds; ++r) {
    if (r % 2)
      shmem_long_p(data, r, right);
    else
      shmem_long_put_nbi(data, &r, 1, right);
    shmem_quiet();
    shmem_long_p(flag, r, beyond);
    shmem_long_wait_until(flag, SHMEM_CMP_GE, r);
    const long seen = shmem_long_g(data, holder);
    CHECK(seen >= r, "the flag said %ld, the data %ld", r, seen);
  }
  shmem_barrier_all();
}

/// Store buffering (Dekker): two PEs each write one word, quiet, and read the other's. One of them must see the other.
/// `home` says where the pair's words are: 0 both at the even PE, 1 both at the odd one, 2 each at its reader.
static void test_store_buffering(long* word, long* seen, int rounds, int home, int atomic) {
  const int odd = me % 2;
  const int partner = odd ? me - 1 : me + 1;
  const int paired = partner < npes;
  check_step("store buffering, home %d, atomic %d", home, atomic);
  long* const my_word = word + odd;
  long* const other_word = word + !odd;
  const int my_home = home == 2 ? partner : me - odd + home;
  const int other_home = home == 2 ? me : me - odd + home;
  word[0] = word[1] = 0;
  shmem_barrier_all();
  for (int r = 1; r <= rounds; ++r) {
    shmem_sync_all();  // so that both write at once
    if (!paired) continue;
    if (atomic)
      shmem_long_atomic_set(my_word, r, my_home);
    else
      shmem_long_p(my_word, r, my_home);
    shmem_quiet();
    seen[r - 1] = atomic ? shmem_long_atomic_fetch(other_word, other_home) : shmem_long_g(other_word, other_home);
  }
  shmem_barrier_all();
  if (paired && !odd) {
    long* theirs = malloc((size_t)rounds * sizeof(long));
    CHECK(theirs != NULL, "malloc gave NULL for %d rounds", rounds);
    shmem_long_get(theirs, seen, (size_t)rounds, partner);
    for (int r = 1; r <= rounds; ++r)
      CHECK(seen[r - 1] >= r || theirs[r - 1] >= r, "round %d: PE %d read %ld and PE %d read %ld", r, me, seen[r - 1],
            partner, theirs[r - 1]);
    free(theirs);
  }
  shmem_barrier_all();
}

/// quiet completes in the presence of many targets: everyone writes to all, then says so to all.
static void test_all_to_all(long* slots, long* count, int rounds) {
  check_step("quiet over all targets");
  *count = 0;
  for (int i = 0; i < npes; ++i) slots[i] = 0;
  shmem_barrier_all();
  for (long r = 1; r <= rounds; ++r) {
    for (int pe = 0; pe < npes; ++pe) shmem_long_put_nbi(slots + me, &r, 1, pe);
    shmem_quiet();
    for (int pe = npes - 1; pe >= 0; --pe) shmem_long_atomic_inc(count, pe);
    shmem_long_wait_until(count, SHMEM_CMP_GE, r * npes);
    for (int i = 0; i < npes; ++i) CHECK(slots[i] >= r, "slot %d holds %ld in round %ld", i, slots[i], r);
  }
  shmem_barrier_all();
}

/// pe_quiet does for the listed targets what quiet does for all; fetched values included.
static void test_pe_quiet(long* slots, long* flag, int rounds) {
  const int targets[2] = {right, me};
  const int left = (me + npes - 1) % npes;
  check_step("pe_quiet");
  slots[0] = slots[1] = 0;
  *flag = 0;
  shmem_barrier_all();
  for (long r = 1; r <= rounds; ++r) {
    long fetched = -1, old = -1;
    for (int pe = 0; pe < npes; ++pe) shmem_long_put_nbi(slots + 2 + me, &r, 1, pe);
    shmem_long_put_nbi(slots, &r, 1, right);
    shmem_long_atomic_fetch_add_nbi(&old, slots + 1, 1, right);
    shmem_pe_quiet(targets, 1);
    CHECK_EQ(old, r - 1);
    shmem_long_get_nbi(&fetched, slots, 1, right);
    shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, targets, 2);
    CHECK_EQ(fetched, r);
    shmem_long_p(flag, r, right);
    shmem_long_wait_until(flag, SHMEM_CMP_GE, r);
    CHECK(slots[0] >= r && slots[2 + left] >= r, "data %ld and %ld in round %ld", slots[0], slots[2 + left], r);
    shmem_quiet();  // r itself was a source for the targets not listed
  }
  shmem_barrier_all();
}

int main(void) {
  check_begin("visibility");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  // With more PEs than cores every round costs time slices, and fewer rounds overlap anyway.
  const int litmus = check_rounds(npes > 2 ? 500 : 4000);
  long* words = check_alloc((4 + (size_t)npes) * sizeof(long));
  long* seen = check_alloc((size_t)litmus * sizeof(long));
  test_message_passing(words, words + 1, check_rounds(npes > 2 ? 1000 : 5000));
  for (int home = 0; home < 3; ++home)
    for (int atomic = 0; atomic < 2; ++atomic) test_store_buffering(words, seen, litmus, home, atomic);
  test_all_to_all(words + 1, words, check_rounds(npes > 2 ? 300 : 1000));
  test_pe_quiet(words + 1, words, check_rounds(npes > 2 ? 300 : 1000));
  shmem_free(seen);
  shmem_free(words);
  return check_end();
}
