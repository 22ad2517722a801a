// SPDX-License-Identifier: BSD-3-Clause
// Every typed form of the collectives that move data, few elements and many.
#include "collective_ops.h"

int main() {
  check_begin("collective_types");
  const shmem_team_t team = SHMEM_TEAM_WORLD;
  const int members = team_size(team);
  Ground ground(size_t{1} << 20, size_t{256} << 10);
  unsigned seed = 1;
  for (const Forms& forms : kForms)
    for (int kind = 0; kind < kKinds; ++kind)
      for (const size_t nelems : {size_t{1}, size_t{3}, size_t{100}}) {
        Op op{static_cast<Kind>(kind), &forms, nelems, ++seed};
        op.root = static_cast<int>(seed) % members;
        op.dst = 1 + static_cast<ptrdiff_t>(seed) % 3;
        op.sst = 1 + static_cast<ptrdiff_t>(seed) % 2;
        ground.run(op, team);
      }
  return check_end();
}
