// SPDX-License-Identifier: BSD-3-Clause
//
// Put and get at the edges: memory of every kind at this end, odd addresses, oneself as target, thousands outstanding,
// and transfers of nothing.
#include <vector>

#include "check.h"
#include "moves.h"

namespace {

int me, npes, right, left;

const unsigned char kConstant[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
unsigned char global_source[4096];

/// Sources and destinations that no segment of the library contains.
void test_memory_kinds(unsigned char* remote) {
  unsigned char on_stack[4096];
  std::vector<unsigned char> on_free_store(4096);
  auto* page = static_cast<unsigned char*>(aligned_alloc(4096, 4096));
  unsigned char* const kinds[] = {on_stack, on_free_store.data(), page, global_source};
  for (unsigned k = 0; k < 4; ++k) {
    check_step("memory kind %u", k);
    check_fill(kinds[k], 4096, me * 4 + k);
    shmem_putmem(remote, kinds[k], 4096, right);
    memset(kinds[k], 0xee, 4096);  // a blocking put has taken the source
    shmem_barrier_all();
    CHECK_PATTERN(remote, 4096, left * 4 + k);
    shmem_getmem(kinds[k], remote, 4096, right);
    CHECK_PATTERN(kinds[k], 4096, me * 4 + k);
    shmem_barrier_all();
  }
  check_step("constant source");
  shmem_putmem(remote, kConstant, sizeof kConstant, right);
  shmem_putmem(remote + 64, "a string literal", 17, right);
  shmem_barrier_all();
  CHECK(memcmp(remote, kConstant, sizeof kConstant) == 0, "first byte %u", remote[0]);
  CHECK(memcmp(remote + 64, "a string literal", 17) == 0, "got '%.17s'", remote + 64);
  shmem_barrier_all();
  free(page);
}

void test_odd_addresses(unsigned char* remote, unsigned char* local) {
  constexpr size_t kSizes[] = {1, 2, 3, 5, 7, 8, 9, 31, 33, 255, 4097};
  constexpr size_t kRoom = 4200;
  for (size_t to = 0; to < 17; ++to) {
    for (size_t from = 0; from < 17; from += check_quick() ? 5 : 1) {
      const size_t n = kSizes[(to * 17 + from) % 11];
      check_step("%zu bytes from offset %zu to offset %zu", n, from, to);
      memset(remote, 0x5a, kRoom);
      check_fill(local + from, n, me + 1);
      shmem_barrier_all();
      shmem_putmem(remote + to, local + from, n, right);
      shmem_barrier_all();
      CHECK_BYTES(remote, to, 0x5a);
      CHECK_PATTERN(remote + to, n, left + 1);
      CHECK_BYTES(remote + to + n, 32, 0x5a);
      memset(local, 0, from + n);
      shmem_getmem(local + from, remote + to, n, right);
      CHECK_PATTERN(local + from, n, me + 1);
      shmem_barrier_all();
    }
  }
}

void test_self(unsigned char* remote) {
  constexpr size_t kBytes = 100003;
  check_step("to oneself, and dest equal to source");
  check_fill(remote, kBytes, 9);
  for (int form = 0; form < 4; ++form) {
    mem_moves().put[form](remote, remote, kBytes, me);
    mem_moves().get[form](remote, remote, kBytes, me);
  }
  shmem_quiet();
  CHECK_PATTERN(remote, kBytes, 9);
  for (int form = 0; form < 4; ++form) {
    check_fill(remote, kBytes, 20 + form);
    mem_moves().put[form](remote + kBytes, remote, kBytes, me);
    shmem_quiet();
    CHECK_PATTERN(remote + kBytes, kBytes, 20 + form);
    mem_moves().get[form](remote + 2 * kBytes, remote + kBytes, kBytes, me);
    shmem_quiet();
    CHECK_PATTERN(remote + 2 * kBytes, kBytes, 20 + form);
  }
  shmem_barrier_all();
}

/// More than any queue holds, so that the library must wait for room without losing or repeating one.
void test_many_outstanding(unsigned char* remote, unsigned char* local) {
  const int n = check_quick() ? 2000 : 5000;
  auto* mine = reinterpret_cast<long*>(local);
  auto* theirs = reinterpret_cast<long*>(remote);
  for (int i = 0; i < n; ++i) mine[i] = me * 1000000L + i;
  shmem_barrier_all();
  check_step("%d puts outstanding", n);
  for (int i = 0; i < n; ++i) shmem_long_put_nbi(theirs + i, mine + i, 1, right);
  shmem_quiet();
  shmem_barrier_all();
  for (int i = 0; i < n; ++i) CHECK_EQ(theirs[i], left * 1000000L + i);
  check_step("%d gets outstanding", n);
  memset(mine, 0, static_cast<size_t>(n) * sizeof *mine);
  for (int i = 0; i < n; ++i) shmem_long_get_nbi(mine + i, theirs + i, 1, right);
  shmem_quiet();
  for (int i = 0; i < n; ++i) CHECK_EQ(mine[i], me * 1000000L + i);
  shmem_barrier_all();
  check_step("%d puts and gets of mixed size outstanding", n);
  constexpr size_t kSlot = 96;
  check_fill(local, n * kSlot, me + 3);
  shmem_barrier_all();
  for (int i = 0; i < n; ++i) shmem_putmem_nbi(remote + i * kSlot, local + i * kSlot, i % kSlot + 1, (me + i) % npes);
  shmem_barrier_all();
  for (int i = 0; i < n; ++i) {
    const int from = ((me - i) % npes + npes) % npes;  // the one PE for which (from + i) % npes is this one
    for (size_t b = 0; b < i % kSlot + 1; b += 7) CHECK_EQ(remote[i * kSlot + b], check_byte(from + 3, i * kSlot + b));
  }
  shmem_barrier_all();
}

/// Nothing to move: every address is fine, NULL included, and nothing changes.
void test_nothing(unsigned char* remote) {
  check_step("transfers of nothing");
  memset(remote, 0x77, 64);
  shmem_barrier_all();
  for (const Moves& moves : kMoves) {
    for (int form = 0; form < 4; ++form) {
      moves.put[form](nullptr, nullptr, 0, right);
      moves.get[form](nullptr, nullptr, 0, right);
      moves.put[form](remote, nullptr, 0, right);
      moves.get[form](nullptr, remote, 0, left);
      moves.put[form](remote, remote, 0, me);
    }
  }
  shmem_long_iput(nullptr, nullptr, 1, 1, 0, right);
  shmem_long_iget(nullptr, nullptr, 1, 1, 0, right);
  shmem_long_ibput(nullptr, nullptr, 4, 4, 4, 0, right);
  shmem_long_ibget(nullptr, nullptr, 4, 4, 4, 0, right);
  shmem_long_ibput(nullptr, nullptr, 4, 4, 0, 4, right);
  shmem_long_ibget(nullptr, nullptr, 4, 4, 0, 4, right);
  shmem_pe_quiet(nullptr, 0);
  shmem_barrier_all();
  CHECK_BYTES(remote, 64, 0x77);
  shmem_barrier_all();
}

}  // namespace

int main() {
  check_begin("put_get_edges");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  constexpr size_t kRoom = 600000;
  auto* remote = static_cast<unsigned char*>(check_alloc(kRoom));
  std::vector<unsigned char> local(kRoom);
  test_memory_kinds(remote);
  test_odd_addresses(remote, local.data());
  test_self(remote);
  test_many_outstanding(remote, local.data());
  test_nothing(remote);
  shmem_free(remote);
  return check_end();
}
