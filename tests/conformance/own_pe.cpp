// SPDX-License-Identifier: BSD-3-Clause
// Calls whose target is the calling PE reach any memory of it: from malloc, on the stack, and constant to read.
#include <shmem.h>

#include <array>
#include <vector>

#include "check.h"

namespace {

void blocks(int me) {
  for (const size_t nbytes : {size_t{1}, size_t{8}, size_t{1000}, size_t{3} << 20}) {
    check_step("%zu bytes within this PE", nbytes);
    const auto seed = static_cast<unsigned>(me);
    std::vector<unsigned char> from(nbytes), to(nbytes), back(nbytes);
    check_fill(from.data(), nbytes, seed);
    shmem_putmem(to.data(), from.data(), nbytes, me);
    CHECK_PATTERN(to.data(), nbytes, seed);
    shmem_getmem(back.data(), to.data(), nbytes, me);
    CHECK_PATTERN(back.data(), nbytes, seed);
    to.assign(nbytes, 0);
    back.assign(nbytes, 0);
    shmem_putmem_nbi(to.data(), from.data(), nbytes, me);
    shmem_getmem_nbi(back.data(), from.data(), nbytes, me);
    shmem_quiet();
    CHECK_PATTERN(to.data(), nbytes, seed);
    CHECK_PATTERN(back.data(), nbytes, seed);
  }
}

void values(int me) {
  check_step("values and elements that lie apart");
  double on_stack = 0;
  shmem_double_p(&on_stack, 2.5 + me, me);
  CHECK(shmem_double_g(&on_stack, me) == 2.5 + me, "%f", on_stack);
  static constexpr std::array<int, 6> kConstant = {1, 2, 3, 4, 5, 6};
  CHECK_EQ(shmem_int_g(kConstant.data() + 3, me), 4);
  std::array<int, 6> apart{};
  shmem_int_iput(apart.data(), kConstant.data(), 2, 1, 3, me);
  CHECK(apart == (std::array<int, 6>{1, 0, 2, 0, 3, 0}), "iput: %d %d %d", apart[0], apart[2], apart[4]);
  shmem_int_iget(apart.data(), kConstant.data(), 1, 2, 3, me);
  CHECK(apart == (std::array<int, 6>{1, 3, 5, 0, 3, 0}), "iget: %d %d %d", apart[0], apart[1], apart[2]);
  shmem_int_ibput(apart.data(), kConstant.data(), 4, 2, 2, 2, me);
  CHECK(apart == (std::array<int, 6>{1, 2, 5, 0, 3, 4}), "ibput: %d %d %d", apart[0], apart[1], apart[4]);
}

void words(int me) {
  check_step("atomics and signals");
  long word = 10, fetched = 0;
  shmem_long_atomic_add(&word, 5, me);
  CHECK_EQ(shmem_long_atomic_fetch_inc(&word, me), 15);
  CHECK_EQ(shmem_long_atomic_compare_swap(&word, 16, 20, me), 16);
  shmem_long_atomic_fetch_add_nbi(&fetched, &word, 1, me);
  shmem_quiet();
  CHECK_EQ(fetched, 20);
  CHECK_EQ(shmem_long_atomic_fetch(&word, me), 21);
  uint64_t signal = 0;
  long to = 0;
  shmem_long_put_signal(&to, &word, 1, &signal, 3, SHMEM_SIGNAL_SET, me);
  shmem_long_put_signal_nbi(&to, &word, 1, &signal, 2, SHMEM_SIGNAL_ADD, me);
  CHECK_EQ(shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 5), 5);
  CHECK_EQ(to, 21);
  shmem_signal_add(&signal, 4, me);
  CHECK_EQ(shmem_signal_fetch(&signal), 9);
  shmem_signal_set(&signal, 1, me);
  CHECK_EQ(signal, 1);
}

/// One side of a put with signal may be symmetric, and the other not.
void mixed(int me) {
  check_step("data and signal, one of them symmetric");
  auto* const heap = static_cast<uint64_t*>(shmem_calloc(2, sizeof(uint64_t)));
  uint64_t word = 7, signal = 0;
  shmem_uint64_put_signal(heap, &word, 1, &signal, 1, SHMEM_SIGNAL_SET, me);
  shmem_uint64_put_signal(&word, heap, 1, heap + 1, 2, SHMEM_SIGNAL_ADD, me);
  shmem_quiet();
  shmem_uint64_wait_until(heap + 1, SHMEM_CMP_EQ, 2);
  CHECK_EQ(heap[0], 7);
  CHECK_EQ(signal, 1);
  CHECK_EQ(word, 7);
  shmem_free(heap);
}

void by_context(int me) {
  check_step("by a context of a team");
  shmem_team_t team = SHMEM_TEAM_INVALID;  // this PE is 0 of a team of its own
  for (int pe = 0; pe < shmem_n_pes(); ++pe) {
    shmem_team_t made = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, pe, 1, 1, nullptr, 0, &made);
    if (made != SHMEM_TEAM_INVALID) team = made;
  }
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
  int to = 0;
  shmem_ctx_int_p(ctx, &to, 5 + me, 0);
  shmem_ctx_quiet(ctx);
  CHECK_EQ(to, 5 + me);
  shmem_ctx_destroy(ctx);
  shmem_team_destroy(team);
}

}  // namespace

int main() {
  check_begin("own_pe");
  const int me = shmem_my_pe();
  blocks(me);
  values(me);
  words(me);
  mixed(me);
  by_context(me);
  return check_end();
}
