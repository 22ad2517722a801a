// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data at all sizes around those where the way of doing it changes, broadcast from every root.
#include "collective_ops.h"

namespace {

const shmem_team_t kTeam = SHMEM_TEAM_WORLD;
unsigned seed = 0;

void sweep(Ground& ground, const std::vector<size_t>& sizes) {
  const int members = team_size(kTeam);
  for (const size_t nbytes : sizes) {
    for (int root = 0; root < members; ++root) {
      Op op{Kind::broadcast, &mem_forms(), nbytes, ++seed};
      op.root = root;
      ground.run(op, kTeam);
    }
    for (const Kind kind : {Kind::collect, Kind::fcollect, Kind::alltoall})
      ground.run({kind, &mem_forms(), nbytes, ++seed}, kTeam);
  }
}

/// Elements of each width, every combination of gaps in dest and source.
void sweep_strides(Ground& ground) {
  for (const Forms& forms : kForms) {
    if (strcmp(forms.name, "uchar") != 0 && strcmp(forms.name, "short") != 0 && strcmp(forms.name, "float") != 0 &&
        strcmp(forms.name, "double") != 0 && strcmp(forms.name, "longdouble") != 0)
      continue;
    for (const size_t nelems : {size_t{1}, size_t{7}, size_t{600}})
      for (const ptrdiff_t dst : {1, 2, 5})
        for (const ptrdiff_t sst : {1, 2, 5}) {
          if (check_quick() && nelems > 7 && dst > 1 && sst > 1) continue;
          Op op{Kind::alltoalls, &forms, nelems, ++seed};
          op.dst = dst;
          op.sst = sst;
          ground.run(op, kTeam);
        }
  }
}

void nothing() {
  check_step("no elements, no addresses");
  for (int round = 0; round < 3; ++round) {
    CHECK_EQ(shmem_int_broadcast(kTeam, NULL, NULL, 0, team_size(kTeam) - 1), 0);
    CHECK_EQ(shmem_double_fcollect(kTeam, NULL, NULL, 0), 0);
    CHECK_EQ(shmem_char_collect(kTeam, NULL, NULL, 0), 0);
    CHECK_EQ(shmem_alltoallmem(kTeam, NULL, NULL, 0), 0);
    CHECK_EQ(shmem_long_alltoalls(kTeam, NULL, NULL, 1, 1, 0), 0);
  }
  check_step("the invalid team");
  CHECK(shmem_broadcastmem(SHMEM_TEAM_INVALID, NULL, NULL, 0, 0) != 0, "0");
  CHECK(shmem_int_fcollect(SHMEM_TEAM_INVALID, NULL, NULL, 0) != 0, "0");
  CHECK(shmem_int_alltoalls(SHMEM_TEAM_INVALID, NULL, NULL, 1, 1, 0) != 0, "0");
}

/// One member gives, in turn; the others pass NULL.
void one_gives(Ground& ground) {
  const int me = team_rank(kTeam), members = team_size(kTeam);
  auto* const block = static_cast<unsigned char*>(check_alloc(300000));
  auto* const dest = static_cast<unsigned char*>(check_alloc(300000));
  for (const size_t nbytes : {size_t{1}, size_t{40}, size_t{41}, size_t{300000}})
    for (int giver = 0; giver < members; ++giver) {
      check_step("collect of %zu bytes of member %d only", nbytes, giver);
      team_sync(kTeam);
      if (me == giver) check_fill(block, nbytes, ++seed + 5);
      if (me != giver) ++seed;
      CHECK_EQ(shmem_collectmem(kTeam, dest, me == giver ? block : NULL, me == giver ? nbytes : 0), 0);
      CHECK_PATTERN(dest, nbytes, seed + 5);
    }
  ground.start_over(kTeam);
}

/// The standard is silent; programs do it and peers allow it: the root's, or the member's own, part stays in place.
void in_place() {
  const int me = team_rank(kTeam), members = team_size(kTeam);
  auto* const block = static_cast<unsigned char*>(check_alloc(static_cast<size_t>(members) * 70000));
  for (const size_t nbytes : {size_t{8}, size_t{3000}, size_t{70000}}) {
    check_step("in place, %zu bytes", nbytes);
    team_sync(kTeam);
    const int root = members - 1;
    if (me == root) check_fill(block, nbytes, 9);
    CHECK_EQ(shmem_broadcastmem(kTeam, block, block, nbytes, root), 0);
    CHECK_PATTERN(block, nbytes, 9);
    team_sync(kTeam);
    unsigned char* const mine = block + static_cast<size_t>(me) * nbytes;
    check_fill(mine, nbytes, 20u + static_cast<unsigned>(me));
    // The other blocks are dest: ready on all members before any of them calls.
    team_sync(kTeam);
    CHECK_EQ(shmem_collectmem(kTeam, block, mine, nbytes), 0);
    for (int from = 0; from < members; ++from)
      CHECK_PATTERN(block + static_cast<size_t>(from) * nbytes, nbytes, 20u + static_cast<unsigned>(from));
  }
}

}  // namespace

int main() {
  check_begin("collective_sizes");
  Ground ground(size_t{10} << 20, size_t{5} << 20);
  nothing();
  std::vector<size_t> sizes;
  for (const size_t edge : {8u, 40u, 56u, 64u, 2048u, 4096u, 8192u, 16384u, 65536u})
    for (const size_t nbytes : {edge - 1, edge + 0, edge + 1}) sizes.push_back(nbytes);
  if (!check_quick()) sizes.insert(sizes.end(), {1, 5, 1000, 32768, 100003, 131072, 262144, 500001});
  sweep(ground, sizes);
  if (check_quick()) sweep(ground, {1, 100003, 262144});
  sweep_strides(ground);
  one_gives(ground);
  in_place();
  return check_end();
}
