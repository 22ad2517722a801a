// SPDX-License-Identifier: BSD-3-Clause
// Random mixtures of collectives, roots and sizes one behind the other without a synchronisation, every byte verified;
// members arrive late in turn, and a root runs far ahead of the others.
#include "collective_ops.h"

namespace {

const shmem_team_t kTeam = SHMEM_TEAM_WORLD;

Op random_op(Dice& dice, int members, unsigned seed) {
  static constexpr size_t kLargest[] = {8, 64, 64, 600, 5000, 5000, 70000};
  const size_t largest = kLargest[dice.roll(7)];
  Op op{static_cast<Kind>(dice.roll(kKinds)), &mem_forms(), 0, seed};
  op.nelems = dice.roll(static_cast<unsigned>(largest) + 1);
  op.root = static_cast<int>(dice.roll(static_cast<unsigned>(members)));
  if (op.kind == Kind::alltoalls) {
    op.nelems %= 600;
    op.forms = &kForms[dice.roll(kFormCount)];
    op.dst = 1 + static_cast<ptrdiff_t>(dice.roll(3));
    op.sst = 1 + static_cast<ptrdiff_t>(dice.roll(3));
  }
  return op;
}

void mixture(Ground& ground, int calls) {
  const int me = team_rank(kTeam), members = team_size(kTeam);
  Dice dice{2026};
  for (int call = 0; call < calls; ++call) {
    const Op op = random_op(dice, members, static_cast<unsigned>(call) + 1);
    if (dice.roll(16) == 0 && static_cast<int>(dice.roll(static_cast<unsigned>(members))) == me) usleep(2000);
    ground.run(op, kTeam);
  }
}

/// The root sends everything before the others have taken anything; sizes alternate so that short messages could
/// overtake long ones.
void far_ahead(int calls) {
  const int me = team_rank(kTeam), members = team_size(kTeam);
  static constexpr size_t kSizes[] = {8, 4096, 1, 3000, 8, 16, 4000, 64};
  constexpr size_t kSlot = 4096;
  auto* const dest = static_cast<unsigned char*>(check_alloc(kSlot * static_cast<size_t>(calls)));
  auto* const source = static_cast<unsigned char*>(check_alloc(kSlot));
  for (int root = 0; root<members; root += members> 4 ? 3 : 1) {
    memset(dest, kUntouched, kSlot * static_cast<size_t>(calls));
    check_step("root %d far ahead", root);
    team_sync(kTeam);
    if (me != root) usleep(20000);
    for (int call = 0; call < calls; ++call) {
      unsigned char* const slot = dest + kSlot * static_cast<size_t>(call);
      const size_t nbytes = kSizes[call % 8];
      const unsigned seed = static_cast<unsigned>(call * 13 + root);
      if (me == root) check_fill(source, nbytes, seed);
      CHECK_EQ(shmem_broadcastmem(kTeam, slot, source, nbytes, root), 0);
      if (me == root) memset(source, kSpoilt, nbytes);
      CHECK_PATTERN(slot, nbytes, seed);
      CHECK_BYTES(slot + nbytes, kSlot - nbytes, kUntouched);
      if (call % 50 == me * 7) usleep(300);
    }
  }
}

}  // namespace

int main() {
  check_begin("collective_mix");
  Ground ground(size_t{12} << 20, size_t{3} << 20);
  mixture(ground, check_quick() ? 250 : 1500);
  far_ahead(check_quick() ? 100 : 400);
  return check_end();
}
