// SPDX-License-Identifier: BSD-3-Clause
//
// fence: whatever follows it never arrives ahead of what came before, 10,000 times, for every way to write data and
// flag. The reader runs freely behind the writer; each round has a slot of its own, so nothing but order is tested.
#include "check.h"

enum { kSlotWords = 8 };

typedef struct {
  long word[kSlotWords];
} Slot;

static int me, npes, right, left;
static Slot* slots;
static long* flag;
static uint64_t* signal_word;
static long* rewritten;
static Slot* mine;  // sources, not symmetric; one per round because nbi puts borrow them

typedef void (*Write)(int round);

static void put_fence_p(int r) {
  shmem_long_put(slots[r].word, mine[r].word, kSlotWords, right);
  shmem_fence();
  shmem_long_p(flag, r + 1, right);
}

static void p_fence_p(int r) {
  for (int i = 0; i < kSlotWords; ++i) shmem_long_p(&slots[r].word[i], mine[r].word[i], right);
  shmem_fence();
  shmem_long_p(flag, r + 1, right);
}

static void put_nbi_fence_set(int r) {
  shmem_putmem_nbi(&slots[r], &mine[r], sizeof(Slot), right);
  shmem_fence();
  shmem_long_atomic_set(flag, r + 1, right);
}

static void add_fence_put(int r) {
  const long next = r + 1;
  for (int i = 0; i < kSlotWords; ++i) shmem_long_atomic_add(&slots[r].word[i], mine[r].word[i], right);
  shmem_fence();
  shmem_long_put(flag, &next, 1, right);
}

/// The slot is filled by two puts; only the fence ties the first to the signal of the second.
static void put_fence_put_signal(int r) {
  shmem_long_put(slots[r].word, mine[r].word, kSlotWords / 2, right);
  shmem_fence();
  shmem_long_put_signal(slots[r].word + kSlotWords / 2, mine[r].word + kSlotWords / 2, kSlotWords / 2, signal_word,
                        (uint64_t)r + 1, SHMEM_SIGNAL_SET, right);
}

static void iput_fence_signal_set(int r) {
  shmem_long_iput(slots[r].word, mine[r].word, 1, 1, kSlotWords, right);
  shmem_fence();
  shmem_signal_set(signal_word, (uint64_t)r + 1, right);
}

static void put_ctx_fence_inc(int r) {
  shmem_ctx_long_put_nbi(SHMEM_CTX_DEFAULT, slots[r].word, mine[r].word, kSlotWords, right);
  shmem_ctx_fence(SHMEM_CTX_DEFAULT);
  shmem_ctx_long_atomic_inc(SHMEM_CTX_DEFAULT, flag, right);
}

/// Here the flag is the signal word.
static int uses_signal(Write write) {
  return write == put_fence_put_signal || write == iput_fence_signal_set;
}

static long expected(int pe, int r, int i) {
  return pe * 1000003L + r * 17L + i + 1;
}

/// Checks slots from `read` on as far as the flag allows; returns the next one to read.
static int check_slots(Write write, int read, int rounds) {
  while (read < rounds) {
    const int arrived = uses_signal(write) ? shmem_uint64_test(signal_word, SHMEM_CMP_GT, (uint64_t)read)
                                           : shmem_long_test(flag, SHMEM_CMP_GT, read);
    if (!arrived) break;
    for (int i = 0; i < kSlotWords; ++i) CHECK_EQ(slots[read].word[i], expected(left, read, i));
    ++read;
  }
  return read;
}

static void test_flag_after_data(const char* name, Write write, int rounds) {
  check_step("%s", name);
  memset(slots, 0, (size_t)rounds * sizeof(Slot));
  *flag = 0;
  *signal_word = 0;
  for (int r = 0; r < rounds; ++r)
    for (int i = 0; i < kSlotWords; ++i) mine[r].word[i] = expected(me, r, i);
  shmem_barrier_all();
  int read = 0;
  for (int r = 0; r < rounds; ++r) {
    write(r);
    // Now and then this PE looks how far its left neighbour is: all slots up to the flag must be complete.
    if (r % 8 == 7) read = check_slots(write, read, rounds);
  }
  if (uses_signal(write))
    shmem_signal_wait_until(signal_word, SHMEM_CMP_GE, (uint64_t)rounds);
  else
    shmem_long_wait_until(flag, SHMEM_CMP_GE, rounds);
  read = check_slots(write, read, rounds);
  CHECK_EQ(read, rounds);
  shmem_barrier_all();
}

/// Two values for one word: the second stays, and no reader sees it go backwards.
static void test_same_word(int rounds) {
  check_step("one word rewritten");
  *rewritten = 0;
  shmem_barrier_all();
  long last = 0;
  for (int r = 1; r <= rounds; ++r) {
    shmem_long_p(rewritten, r, right);
    shmem_fence();
    CHECK(shmem_long_test(rewritten, SHMEM_CMP_GE, last), "the word went from %ld back to %ld", last, *rewritten);
    while (shmem_long_test(rewritten, SHMEM_CMP_GT, last)) ++last;
  }
  shmem_long_wait_until(rewritten, SHMEM_CMP_EQ, rounds);
  shmem_barrier_all();
  CHECK_EQ(*rewritten, rounds);
}

int main(void) {
  check_begin("ordering");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  const int rounds = check_rounds(10000);
  slots = check_alloc((size_t)rounds * sizeof(Slot));
  flag = check_alloc(sizeof(long));
  rewritten = check_alloc(sizeof(long));
  signal_word = check_alloc(sizeof(uint64_t));
  mine = malloc((size_t)rounds * sizeof(Slot));
  CHECK(mine != NULL, "malloc gave NULL for %d rounds", rounds);
  test_flag_after_data("put, fence, p", put_fence_p, rounds);
  test_flag_after_data("p, fence, p", p_fence_p, rounds);
  test_flag_after_data("put_nbi, fence, atomic_set", put_nbi_fence_set, rounds);
  test_flag_after_data("atomic_add, fence, put", add_fence_put, check_rounds(2000));
  test_flag_after_data("put, fence, put_signal", put_fence_put_signal, rounds);
  test_flag_after_data("iput, fence, signal_set", iput_fence_signal_set, rounds);
  test_flag_after_data("ctx put_nbi, fence, atomic_inc", put_ctx_fence_inc, rounds);
  test_same_word(rounds);
  free(mine);
  return check_end();
}
