// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions and scans on teams that a program split: strided, reversed, of one PE, nested, and in turn with their
// parents.
#include "check.h"
#include "reduce_values.h"

namespace {

int me, npes;
constexpr size_t kMost = 6000;
long *source, *dest;
unsigned round_number = 0;

/// A team with the world's numbers of its PEs; empty on PEs outside it.
struct Group {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  std::vector<int> pes;

  int rank() const {
    for (size_t i = 0; i < pes.size(); ++i)
      if (pes[i] == me) return static_cast<int>(i);
    return -1;
  }
};

Group split(const Group& parent, int start, int stride, int size) {
  Group group;
  if (parent.team == SHMEM_TEAM_INVALID) return group;
  CHECK_EQ(shmem_team_split_strided(parent.team, start, stride, size, nullptr, 0, &group.team), 0);
  for (int i = 0; i < size; ++i) group.pes.push_back(parent.pes[static_cast<size_t>(start + i * stride)]);
  CHECK_EQ(group.team != SHMEM_TEAM_INVALID, group.rank() >= 0);
  return group;
}

void check_sum(const Group& group, const long* at, size_t n, int members) {
  for (size_t i = 0; i < n; ++i) {
    const long want = members == 0 ? 0 : expected<long>(Op::Sum, members, i, round_number, [&](int rank) {
      return group.pes[static_cast<size_t>(rank)];
    });
    CHECK(at[i] == want, "%zu elements: element %zu is %ld, expected %ld", n, i, at[i], want);
  }
}

/// All collectives once, without a synchronisation between them. Rounds are counted on PEs outside as well.
void use(const Group& group, const char* what) {
  const int size = static_cast<int>(group.pes.size());
  for (const size_t n : {size_t{1}, size_t{7}, size_t{60}, size_t{130}, size_t{1000}, kMost}) {
    check_step("%s: %zu elements", what, n);
    ++round_number;
    if (group.team == SHMEM_TEAM_INVALID) continue;
    const auto refill = [&] {
      for (size_t i = 0; i < n; ++i) source[i] = operand<long>(me, i, round_number);
    };
    refill();
    CHECK_EQ(shmem_long_sum_reduce(group.team, dest, source, n), 0);
    check_sum(group, dest, n, size);
    CHECK_EQ(shmem_long_sum_inscan(group.team, dest, source, n), 0);
    check_sum(group, dest, n, group.rank() + 1);
    CHECK_EQ(shmem_long_sum_exscan(group.team, source, source, n), 0);
    check_sum(group, source, n, group.rank());
    refill();
    CHECK_EQ(shmem_long_sum_reduce(group.team, source, source, n), 0);
    check_sum(group, source, n, size);
  }
}

void finish(Group& group) {
  shmem_team_destroy(group.team);
  group.team = SHMEM_TEAM_INVALID;
}

}  // namespace

int main(void) {
  check_begin("reduce_teams");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  source = static_cast<long*>(check_alloc(kMost * sizeof(long)));
  dest = static_cast<long*>(check_alloc(kMost * sizeof(long)));
  Group world{SHMEM_TEAM_WORLD, {}};
  for (int pe = 0; pe < npes; ++pe) world.pes.push_back(pe);
  check_step("splitting");
  const int half = (npes + 1) / 2;
  // Twice: areas of destroyed teams are used again.
  for (int pass = 0; pass < 2; ++pass) {
    Group even = split(world, 0, 2, half);
    Group reversed = split(world, npes - 1, -1, npes);
    Group outer = split(reversed, 0, npes > 2 ? npes - 1 : 1, npes > 1 ? 2 : 1);  // the first and the last PE, or two
    Group one = split(world, npes / 2, 0, 1);
    Group nested = split(even, half - 1, -1, half);  // even PEs downwards
    use(even, "even PEs");
    use(reversed, "all PEs backwards");
    use(world, "the world in between");
    use(nested, "even PEs backwards");
    use(outer, "two PEs");
    use(one, "one PE");
    use(reversed, "all PEs backwards again");
    finish(nested);
    finish(one);
    finish(outer);
    finish(even);
    finish(reversed);
  }
  shmem_free(dest);
  shmem_free(source);
  return check_end();
}
