// SPDX-License-Identifier: BSD-3-Clause
//
// Contexts: making, ending, many at once; quiet and fence of one; every family of operations on a team's context.
#include <vector>

#include "check.h"

namespace {

int me, npes;

struct Mail {
  long words[64];
  uint64_t signals[64];
};
Mail* mail;  ///< symmetric

long value_of(int from, int round) {
  return 1000L * round + from + 1;
}

void clear() {
  shmem_barrier_all();  // others may still read
  *mail = Mail{};
  shmem_barrier_all();
}

void invalid() {
  check_step("SHMEM_CTX_INVALID");
  shmem_team_t team = SHMEM_TEAM_WORLD;
  CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0, "get_team gave 0");
  CHECK(team == SHMEM_TEAM_INVALID, "a team of no context");
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0, "a context of no team");
  CHECK(ctx == SHMEM_CTX_INVALID, "a context of no team");
  shmem_ctx_destroy(SHMEM_CTX_INVALID);
  shmem_ctx_quiet(SHMEM_CTX_INVALID);
  shmem_ctx_fence(SHMEM_CTX_INVALID);
  shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, NULL, 0);
  shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, NULL, 0);
  shmem_ctx_session_stop(SHMEM_CTX_INVALID);
}

void teams_of_contexts() {
  check_step("the team of a context");
  shmem_team_t team = SHMEM_TEAM_INVALID;
  CHECK_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
  CHECK(team == SHMEM_TEAM_WORLD, "of the default context");
  shmem_ctx_t ctx;
  CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
  team = SHMEM_TEAM_INVALID;
  CHECK_EQ(shmem_ctx_get_team(ctx, &team), 0);
  CHECK(team == SHMEM_TEAM_WORLD, "of one that ctx_create made");
  shmem_ctx_destroy(ctx);
  shmem_team_t back;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back), 0);
  for (const shmem_team_t from : {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, back}) {
    CHECK_EQ(shmem_team_create_ctx(from, 0, &ctx), 0);
    CHECK_EQ(shmem_ctx_get_team(ctx, &team), 0);
    CHECK(team == from, "of one that team_create_ctx made");
    shmem_ctx_destroy(ctx);
  }
  shmem_team_destroy(back);
}

/// Thousands alive, a PE with one more than another (creation is not collective), destroyed in another order.
void many() {
  const int count = check_rounds(4000) + me;
  std::vector<shmem_ctx_t> contexts(static_cast<size_t>(count));
  const long options[] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE,
                          SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};
  check_step("%d contexts at once", count);
  for (int i = 0; i < count; ++i) {
    const long option = options[i % 5];
    CHECK_EQ(shmem_ctx_create(option, &contexts[static_cast<size_t>(i)]), 0);
  }
  const int next = (me + 1) % npes;
  for (int i = 0; i < count; ++i) shmem_ctx_long_atomic_add(contexts[static_cast<size_t>(i)], &mail->words[0], 1, next);
  for (int step = 0; step < 7; ++step)  // not in the order of making
    for (int i = step; i < count; i += 7) shmem_ctx_destroy(contexts[static_cast<size_t>(i)]);
  shmem_sync_all();  // destroy has completed what was issued
  CHECK_EQ(mail->words[0], check_rounds(4000) + (me + npes - 1) % npes);
  clear();
  check_step("one context after another");
  for (int i = 0; i < 3 * count; ++i) {
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT, "no handle of its own");
    shmem_ctx_destroy(ctx);
  }
}

/// Nonblocking operations of several contexts; the quiet of each completes its own.
void quiet_of_each() {
  constexpr int kContexts = 8;
  shmem_ctx_t contexts[kContexts];
  for (shmem_ctx_t& ctx : contexts) CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
  const int next = (me + 1) % npes;
  const int before = (me + npes - 1) % npes;
  long source[kContexts], got[kContexts], fetched[kContexts];
  for (int round = 1; round <= check_rounds(200); ++round) {
    check_step("quiet of each context, round %d", round);
    for (int c = 0; c < kContexts; ++c) {
      source[c] = value_of(me, round) + 100 * c;
      got[c] = fetched[c] = -1;
      shmem_ctx_long_put_nbi(contexts[c], &mail->words[c], &source[c], 1, next);
      shmem_ctx_long_get_nbi(contexts[c], &got[c], &mail->words[32 + c], 1, next);
      shmem_ctx_long_atomic_fetch_add_nbi(contexts[c], &fetched[c], &mail->words[16 + c], 1, next);
    }
    for (int c = kContexts; c-- > 0;) {
      shmem_ctx_quiet(contexts[c]);
      CHECK_EQ(got[c], round - 1);
      CHECK_EQ(fetched[c], round - 1);
      CHECK_EQ(shmem_long_g(&mail->words[c], next), source[c]);
    }
    shmem_sync_all();
    for (int c = 0; c < kContexts; ++c) {
      CHECK_EQ(mail->words[c], value_of(before, round) + 100 * c);
      mail->words[32 + c] = round;
    }
    shmem_sync_all();
  }
  for (const shmem_ctx_t ctx : contexts) shmem_ctx_destroy(ctx);
  clear();
}

/// Put, fence, flag on one context; the flag must not be seen before the data.
void fence_of_one() {
  shmem_ctx_t ctx;
  CHECK_EQ(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx), 0);
  const int next = (me + 1) % npes;
  const int before = (me + npes - 1) % npes;
  for (int round = 1; round <= check_rounds(400); ++round) {
    check_step("fence of a context, round %d", round);
    const long data = value_of(me, round);
    shmem_ctx_long_put_nbi(ctx, &mail->words[1], &data, 1, next);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_p(ctx, &mail->words[2], round, next);
    shmem_long_wait_until(&mail->words[2], SHMEM_CMP_EQ, round);
    CHECK_EQ(mail->words[1], value_of(before, round));
    shmem_ctx_quiet(ctx);
    shmem_sync_all();
  }
  shmem_ctx_destroy(ctx);
  clear();
}

/// Every family on a context whose PE numbers run backwards: rank r is PE npes - 1 - r.
void team_context(shmem_team_t back) {
  shmem_ctx_t ctx;
  CHECK_EQ(shmem_team_create_ctx(back, 0, &ctx), 0);
  const int rank = shmem_team_my_pe(back);
  const int to = (rank + 1) % npes;          // team-relative
  const int from_pe = (me + 1) % npes;       // the world's PE that names me `to`
  const int to_pe = (me + npes - 1) % npes;  // whom I name so
  long* const w = mail->words;
  const long mine[4] = {10 + me, 20 + me, 30 + me, 40 + me};
  check_step("puts on a team's context");
  shmem_ctx_long_put(ctx, &w[0], mine, 1, to);
  shmem_put(ctx, &w[1], mine, 1, to);
  shmem_ctx_long_put_nbi(ctx, &w[2], mine, 1, to);
  shmem_ctx_putmem(ctx, &w[3], mine, sizeof(long), to);
  shmem_ctx_put64(ctx, &w[4], mine, 1, to);
  shmem_ctx_long_p(ctx, &w[5], mine[0], to);
  shmem_ctx_long_iput(ctx, &w[6], mine, 2, 1, 2, to);      // 6 and 8
  shmem_ctx_long_ibput(ctx, &w[9], mine, 3, 2, 1, 2, to);  // 9 and 12
  shmem_ctx_long_put_signal(ctx, &w[13], mine, 1, &mail->signals[0], 5, SHMEM_SIGNAL_SET, to);
  shmem_ctx_long_put_signal_nbi(ctx, &w[14], mine, 1, &mail->signals[1], 6, SHMEM_SIGNAL_ADD, to);
  shmem_ctx_signal_set(ctx, &mail->signals[2], 7, to);
  shmem_ctx_signal_add(ctx, &mail->signals[3], 8, to);
  shmem_ctx_long_atomic_set(ctx, &w[15], mine[0], to);
  shmem_ctx_long_atomic_add(ctx, &w[16], mine[0], to);
  shmem_ctx_long_atomic_inc(ctx, &w[17], to);
  CHECK_EQ(shmem_ctx_long_atomic_swap(ctx, &w[18], mine[0], to), 0);
  CHECK_EQ(shmem_ctx_long_atomic_compare_swap(ctx, &w[19], 0, mine[0], to), 0);
  CHECK_EQ(shmem_ctx_ulong_atomic_fetch_or(ctx, (unsigned long*)&w[20], 3, to), 0);
  long old = -1;
  shmem_ctx_long_atomic_fetch_add_nbi(ctx, &old, &w[21], mine[0], to);
  shmem_ctx_pe_quiet(ctx, &to, 1);
  CHECK_EQ(old, 0);
  shmem_sync_all();
  check_step("what arrived from PE %d", from_pe);
  for (const int i : {0, 1, 2, 3, 4, 5, 6, 9, 13, 14, 15, 16, 18, 19, 21}) CHECK_EQ(w[i], 10 + from_pe);
  CHECK_EQ(w[7], 0);
  CHECK_EQ(w[8], 20 + from_pe);
  CHECK_EQ(w[12], 30 + from_pe);
  CHECK_EQ(w[17], 1);
  CHECK_EQ(w[20], 3);
  for (int i = 0; i < 4; ++i) CHECK_EQ(mail->signals[i], 5 + i);
  shmem_sync_all();
  check_step("gets on a team's context");
  for (int i = 0; i < 8; ++i) w[40 + i] = 100 * me + i;
  shmem_sync_all();
  long got[8] = {0};
  shmem_ctx_long_get(ctx, &got[0], &w[40], 1, to);
  shmem_ctx_long_get_nbi(ctx, &got[1], &w[41], 1, to);
  shmem_ctx_getmem(ctx, &got[2], &w[42], sizeof(long), to);
  shmem_ctx_long_iget(ctx, &got[3], &w[43], 1, 1, 1, to);
  shmem_ctx_long_ibget(ctx, &got[4], &w[44], 1, 1, 1, 1, to);
  got[5] = shmem_ctx_long_g(ctx, &w[45], to);
  got[6] = shmem_ctx_long_atomic_fetch(ctx, &w[46], to);
  got[7] = shmem_g(ctx, &w[47], to);
  shmem_ctx_quiet(ctx);
  for (int i = 0; i < 8; ++i) CHECK_EQ(got[i], 100 * to_pe + i);
  check_step("a transfer of nothing");
  shmem_ctx_long_put(ctx, NULL, NULL, 0, to);
  shmem_ctx_pe_quiet(ctx, NULL, 0);
  shmem_ctx_destroy(ctx);
  clear();
}

/// A PE list of pe_quiet names PEs of the context's team; only what was issued to them need be complete.
void pe_quiet_of_teams(shmem_team_t back) {
  shmem_ctx_t ctx;
  CHECK_EQ(shmem_team_create_ctx(back, 0, &ctx), 0);
  std::vector<int> ranks;
  for (int i = 0; i < npes; ++i) ranks.push_back(i);
  for (int round = 1; round <= check_rounds(100); ++round) {
    check_step("pe_quiet, round %d", round);
    const long data = value_of(me, round);
    for (const int rank : ranks) shmem_ctx_long_put_nbi(ctx, &mail->words[me], &data, 1, rank);
    shmem_ctx_pe_quiet(ctx, ranks.data(), ranks.size());
    shmem_sync_all();
    for (int pe = 0; pe < npes; ++pe) CHECK_EQ(mail->words[pe], value_of(pe, round));
    shmem_sync_all();
  }
  shmem_ctx_destroy(ctx);
  clear();
}

/// Destroying a team ends the shareable contexts that were left, after a quiet.
void left_with_their_team() {
  for (int round = 0; round < check_rounds(40); ++round) {
    check_step("contexts left to their team, round %d", round);
    shmem_team_t back;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back), 0);
    shmem_ctx_t ctx[3];
    for (shmem_ctx_t& c : ctx) CHECK_EQ(shmem_team_create_ctx(back, 0, &c), 0);
    const int to = (shmem_team_my_pe(back) + 1) % npes;
    for (const shmem_ctx_t c : ctx) shmem_ctx_long_atomic_add(c, &mail->words[0], 1, to);
    shmem_team_destroy(back);
    shmem_sync_all();
    CHECK_EQ(mail->words[0], 3 * (round + 1));
  }
  clear();
}

}  // namespace

int main() {
  check_begin("contexts");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  mail = static_cast<Mail*>(shmem_calloc(1, sizeof(Mail)));
  invalid();
  teams_of_contexts();
  many();
  quiet_of_each();
  fence_of_one();
  shmem_team_t back;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back), 0);
  team_context(back);
  pe_quiet_of_teams(back);
  left_with_their_team();
  shmem_team_destroy(back);
  // Left for finalize, with something to complete.
  shmem_ctx_t left;
  CHECK_EQ(shmem_ctx_create(0, &left), 0);
  shmem_ctx_long_atomic_add(left, &mail->words[9], 1, (me + 1) % npes);
  return check_end();
}
