// SPDX-License-Identifier: BSD-3-Clause
//
// Splits of every shape against a model: members, order, and that a new team works at once.
#include <unistd.h>

#include <algorithm>
#include <random>
#include <vector>

#include "check.h"

namespace {

int me, npes;
long* inbox;  ///< one word per PE

/// World PEs in rank order.
using Model = std::vector<int>;

int rank_in(const Model& model, int pe) {
  const auto found = std::find(model.begin(), model.end(), pe);
  return found == model.end() ? -1 : static_cast<int>(found - model.begin());
}

/// Size, order, and that a sync and puts by rank work without anything between.
void check_team(shmem_team_t team, const Model& model) {
  const int rank = rank_in(model, me);
  if (rank < 0) {
    CHECK(team == SHMEM_TEAM_INVALID, "PE %d is no member", me);
    return;
  }
  const int size = static_cast<int>(model.size());
  CHECK_EQ(shmem_team_n_pes(team), size);
  CHECK_EQ(shmem_team_my_pe(team), rank);
  for (int i = 0; i < size; ++i) {
    CHECK_EQ(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD), model[static_cast<size_t>(i)]);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, model[static_cast<size_t>(i)], team), i);
  }
  static long turn = 0;
  shmem_ctx_t ctx;
  CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
  // Turns differ between PEs, so each says its own; what arrives must be what the sender announced.
  const long mine = 1000 * ++turn + me;
  shmem_ctx_long_p(ctx, &inbox[me], mine, (rank + 1) % size);
  shmem_ctx_quiet(ctx);
  CHECK_EQ(shmem_sync(team), 0);
  const int before = model[static_cast<size_t>((rank + size - 1) % size)];
  const long sender = shmem_long_g(&inbox[before], me) % 1000;
  CHECK_EQ(sender, before);
  CHECK_EQ(shmem_team_sync(team), 0);
  shmem_ctx_destroy(ctx);
}

Model split_model(const Model& parent, int start, int stride, int size) {
  Model model;
  for (int i = 0; i < size; ++i) model.push_back(parent[static_cast<size_t>(start + i * stride)]);
  return model;
}

bool fits(int n, int start, int stride, int size) {
  const int last = start + stride * (size - 1);
  return start < n && last >= 0 && last < n && (stride != 0 || size == 1);
}

void strided() {
  Model world;
  for (int pe = 0; pe < npes; ++pe) world.push_back(pe);
  for (int start = 0; start < npes; ++start)
    for (int stride = -3; stride <= 3; ++stride)
      for (int size = 1; size <= npes; ++size) {
        if (!fits(npes, start, stride, size) || (npes > 4 && (start + size) % 3 != 0)) continue;
        check_step("start %d, stride %d, size %d", start, stride, size);
        shmem_team_t team;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team), 0);
        check_team(team, split_model(world, start, stride, size));
        shmem_team_destroy(team);
      }
  check_step("one PE and a stride beyond all numbers");
  shmem_team_t team;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -2147483647, 1, NULL, 0, &team), 0);
  check_team(team, {npes - 1});
  shmem_team_destroy(team);
}

void grid(shmem_team_t parent, const Model& model) {
  const int n = static_cast<int>(model.size());
  const int rank = rank_in(model, me);
  for (int xrange = 1; xrange <= n + 2; ++xrange) {
    check_step("%d PEs in rows of %d", n, xrange);
    shmem_team_t x, y;
    CHECK_EQ(shmem_team_split_2d(parent, xrange, NULL, 0, &x, NULL, 0, &y), 0);
    const int width = std::min(xrange, n);
    Model row, column;
    for (int i = 0; i < n; ++i) {
      if (i / width == rank / width) row.push_back(model[static_cast<size_t>(i)]);
      if (i % width == rank % width) column.push_back(model[static_cast<size_t>(i)]);
    }
    check_team(x, row);
    check_team(y, column);
    CHECK_EQ(shmem_team_my_pe(x), rank % width);
    CHECK_EQ(shmem_team_my_pe(y), rank / width);
    shmem_team_destroy(y);
    shmem_team_destroy(x);
  }
}

/// Random splits of splits, in which all members agree; at the end everything is destroyed in the order of making.
void nested() {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::vector<std::pair<shmem_team_t, Model>> family;
    Model world;
    for (int pe = 0; pe < npes; ++pe) world.push_back(pe);
    family.emplace_back(SHMEM_TEAM_WORLD, world);
    std::mt19937 random(seed);
    for (int depth = 1; depth <= 4; ++depth) {
      const auto [parent, model] = family.back();  // every member has this seed, so all draw equal numbers
      const int n = static_cast<int>(model.size());
      int start, stride, size;
      do {
        start = static_cast<int>(random() % static_cast<unsigned>(n));
        stride = static_cast<int>(random() % 5) - 2;
        size = static_cast<int>(random() % static_cast<unsigned>(n)) + 1;
      } while (!fits(n, start, stride, size) || (n > 2 && size == 1));
      check_step("seed %u, depth %d: start %d, stride %d, size %d of %d", seed, depth, start, stride, size, n);
      shmem_team_t team;
      CHECK_EQ(shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team), 0);
      const Model child = split_model(model, start, stride, size);
      check_team(team, child);
      if (team == SHMEM_TEAM_INVALID) break;
      if (depth == 2) grid(team, child);
      family.emplace_back(team, child);
    }
    for (size_t i = 1; i < family.size(); ++i) shmem_team_destroy(family[i].first);
    shmem_sync_all();
  }
}

/// Far more teams than exist at once; numbers and flags of one must not disturb the next in its place.
void churn() {
  const int rounds = check_rounds(npes > 4 ? 400 : 3000);
  shmem_team_t kept[3];
  for (shmem_team_t& team : kept) CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
  for (int i = 0; i < rounds; ++i) {
    check_step("round %d of %d", i, rounds);
    shmem_team_t& team = kept[i % 3];
    shmem_team_destroy(team);
    const bool back = i % 2 == 1;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, back ? npes - 1 : 0, back ? -1 : 1, npes, NULL, 0, &team), 0);
    for (int s = 0; s < i % 4; ++s) CHECK_EQ(shmem_team_sync(team), 0);
    if (i % 8 == 0) {
      inbox[npes + me] = i;
      CHECK_EQ(shmem_team_sync(team), 0);
      const int next = (shmem_team_my_pe(team) + 1) % npes;
      const int pe = shmem_team_translate_pe(team, next, SHMEM_TEAM_WORLD);
      CHECK_EQ(shmem_long_g(&inbox[npes + pe], pe), i);
      CHECK_EQ(shmem_team_sync(team), 0);
    }
  }
  for (shmem_team_t& team : kept) shmem_team_destroy(team);
}

/// The area of a destroyed team goes to a team of other PEs at once, while a slow member is still on its way out: PE 1
/// sleeps in destroy when PE 0, the last to come, goes on with PE 2.
void inherit() {
  if (npes < 3) return;
  long* const announced = &inbox[npes];
  shmem_long_p(announced, 0, me);
  shmem_sync_all();
  shmem_team_t pairs[2];  // PEs 0 and 1, PEs 0 and 2
  for (int i = 0; i < 2; ++i)
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, i + 1, 2, nullptr, 0, &pairs[i]), 0);
  for (long turn = 1; turn <= 10; ++turn) {
    shmem_team_t first = SHMEM_TEAM_INVALID, heir = SHMEM_TEAM_INVALID;
    if (me < 2) CHECK_EQ(shmem_team_split_strided(pairs[0], 0, 1, 2, nullptr, 0, &first), 0);
    if (me == 0) {
      usleep(50000);
      shmem_long_p(announced, turn, me);
    }
    while (me == 2 && shmem_long_g(announced, 0) < turn) continue;  // wide awake
    shmem_team_destroy(first);
    if (me == 0 || me == 2) CHECK_EQ(shmem_team_split_strided(pairs[1], 0, 1, 2, nullptr, 0, &heir), 0);
    if (me < 2) CHECK_EQ(shmem_team_sync(pairs[0]), 0);  // PE 1 is out
    shmem_team_destroy(heir);
  }
  shmem_sync_all();
  for (const shmem_team_t pair : pairs) shmem_team_destroy(pair);
}

}  // namespace

int main() {
  check_begin("team_split");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  inbox = static_cast<long*>(check_alloc(2 * static_cast<size_t>(npes) * sizeof(long)));
  strided();
  Model world;
  for (int pe = 0; pe < npes; ++pe) world.push_back(pe);
  grid(SHMEM_TEAM_WORLD, world);
  Model node;
  for (int i = 0; i < shmem_team_n_pes(SHMEM_TEAM_SHARED); ++i)
    node.push_back(shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD));
  grid(SHMEM_TEAM_SHARED, node);
  shmem_sync_all();
  nested();
  churn();
  inherit();
  return check_end();
}
