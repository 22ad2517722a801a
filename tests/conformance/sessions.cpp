// SPDX-License-Identifier: BSD-3-Clause
//
// Sessions are hints: with and without them results, order and completion agree, and nothing waits for the end of a
// session that does not come.
#include <vector>

#include "check.h"

namespace {

int me, npes;
long* words;  ///< symmetric
constexpr int kWords = 512;

void start(shmem_ctx_t ctx, size_t total_ops) {
  const shmem_ctx_session_config_t config = {total_ops};
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
}

/// A batch of small puts, ended in each way that ends one; then PE `next` looks.
void batches(shmem_ctx_t ctx) {
  const int next = (me + 1) % npes;
  const int before = (me + npes - 1) % npes;
  std::vector<long> source(kWords);
  long round = 0;
  for (const int count : {1, 2, 31, 32, 33, 100, kWords})
    for (int ending = 0; ending < 4; ++ending) {
      ++round;
      check_step("%d puts, ending %d", count, ending);
      for (int i = 0; i < count; ++i) source[static_cast<size_t>(i)] = 100000 * round + 1000 * me + i;
      if (ending % 2 == 0)
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
      else
        start(ctx, static_cast<size_t>(count));
      for (int i = 0; i < count; ++i) shmem_ctx_long_put_nbi(ctx, &words[i], &source[static_cast<size_t>(i)], 1, next);
      switch (ending) {
        case 0:
          shmem_ctx_session_stop(ctx);
          shmem_ctx_quiet(ctx);
          break;
        case 1:
          shmem_ctx_quiet(ctx);
          shmem_ctx_session_stop(ctx);
          break;
        case 2:  // a get behind a fence and quiet of the session sees the last put
          shmem_ctx_quiet(ctx);
          CHECK_EQ(shmem_ctx_long_g(ctx, &words[count - 1], next), source[static_cast<size_t>(count - 1)]);
          shmem_ctx_session_stop(ctx);
          break;
        case 3:
          shmem_ctx_session_stop(ctx);
          shmem_ctx_session_stop(ctx);  // a second time: nothing
          shmem_ctx_quiet(ctx);
          break;
      }
      shmem_sync_all();
      for (int i = 0; i < count; ++i) CHECK_EQ(words[i], 100000 * round + 1000 * before + i);
      shmem_sync_all();
    }
}

/// The source of a small blocking put may change at once, also in a batch.
void sources(shmem_ctx_t ctx) {
  check_step("sources of blocking puts in a batch");
  const int next = (me + 1) % npes;
  const int before = (me + npes - 1) % npes;
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
  long source[40];
  for (int i = 0; i < kWords / 40; ++i) {
    for (int k = 0; k < 40; ++k) source[k] = 1000 * i + me;
    shmem_ctx_long_put(ctx, &words[40 * i], source, 40, next);
    memset(source, 0xff, sizeof source);
  }
  shmem_ctx_quiet(ctx);
  shmem_ctx_session_stop(ctx);
  shmem_sync_all();
  for (int i = 0; i < kWords / 40 * 40; ++i) CHECK_EQ(words[i], 1000 * (i / 40) + before);
  shmem_sync_all();
}

/// Data, fence, flag within a batch: the flag never comes first. Signals and atomics mix in.
void order(shmem_ctx_t ctx) {
  const int next = (me + 1) % npes;
  const int before = (me + npes - 1) % npes;
  for (int i = 0; i < kWords; ++i) words[i] = 0;
  shmem_barrier_all();
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
  for (long round = 1; round <= check_rounds(200); ++round) {
    check_step("order in a batch, round %ld", round);
    const long data[3] = {1000 * round + me, 1, 2};
    shmem_ctx_long_put_nbi(ctx, &words[0], data, 3, next);
    shmem_ctx_fence(ctx);
    if (round % 3 == 0)
      shmem_ctx_long_p(ctx, &words[8], round, next);
    else if (round % 3 == 1)
      shmem_ctx_long_atomic_set(ctx, &words[8], round, next);
    else
      shmem_ctx_signal_set(ctx, (uint64_t*)&words[8], (uint64_t)round, next);
    shmem_long_wait_until(&words[8], SHMEM_CMP_EQ, round);
    CHECK_EQ(words[0], 1000 * round + before);
    shmem_ctx_quiet(ctx);
    shmem_sync_all();
  }
  shmem_ctx_session_stop(ctx);
}

/// A put of a session that nobody ends arrives while its PE waits in another call, or computes.
void nothing_stalls(shmem_ctx_t ctx) {
  const int next = (me + 1) % npes;
  for (long round = 1; round <= 6; ++round) {
    check_step("a put that nothing follows, round %ld", round);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_long_p(ctx, &words[9], 50 * round, next);
    if (round % 2 == 0) {  // no call, so only the proxy threads can move it
      const double until = check_seconds() + 20;
      while (__atomic_load_n(&words[9], __ATOMIC_ACQUIRE) != 50 * round)
        CHECK(check_seconds() < until, "the put did not go on by itself");
    }
    shmem_long_wait_until(&words[9], SHMEM_CMP_EQ, 50 * round);
    shmem_sync_all();
  }
  shmem_ctx_session_stop(ctx);
  shmem_ctx_quiet(ctx);
}

/// A second start adds; a wrong total is no harm; the default context has sessions as well.
void starts() {
  check_step("starts that add up");
  const int next = (me + 1) % npes;
  shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 0);
  shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
  for (const size_t total : {size_t{0}, size_t{1}, size_t{3}, SIZE_MAX}) {
    start(SHMEM_CTX_DEFAULT, total);
    const long source[5] = {1, 2, 3, 4, (long)(total % 1000)};
    for (int i = 0; i < 5; ++i) shmem_long_put_nbi(&words[20 + i], &source[i], 1, next);
    shmem_quiet();
    shmem_sync_all();
    for (int i = 0; i < 5; ++i) CHECK_EQ(words[20 + i], source[i]);
    shmem_sync_all();
  }
  shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
  shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
}

/// destroy completes a batch that was not stopped.
void destroyed() {
  check_step("a context destroyed within its session");
  shmem_ctx_t ctx;
  CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
  const long value = 4711 + me;
  shmem_ctx_long_put_nbi(ctx, &words[30], &value, 1, (me + 1) % npes);
  shmem_ctx_destroy(ctx);
  shmem_sync_all();
  CHECK_EQ(words[30], 4711 + (me + npes - 1) % npes);
  shmem_sync_all();
}

}  // namespace

int main() {
  check_begin("sessions");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  words = static_cast<long*>(shmem_calloc(kWords, sizeof(long)));
  shmem_ctx_t ctx;
  CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
  batches(ctx);
  batches(SHMEM_CTX_DEFAULT);
  sources(ctx);
  order(ctx);
  nothing_stalls(ctx);
  starts();
  destroyed();
  shmem_ctx_destroy(ctx);
  return check_end();
}
