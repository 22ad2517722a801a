// SPDX-License-Identifier: BSD-3-Clause
//
// Block put and get: every type and size, every form, every count; nothing outside the destination may change.
#include <vector>

#include "check.h"
#include "moves.h"

namespace {

constexpr size_t kCounts[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65, 1000, 4095, 4096, 4097};
constexpr size_t kLargeBytes[] = {65536, 1 << 20, (3 << 20) + 5};
constexpr size_t kGap = 16;  // bytes around each destination that must keep kGuard; also keeps all of it aligned
constexpr unsigned char kGuard = 0xa5;
constexpr int kNcounts = sizeof kCounts / sizeof kCounts[0];

int me, npes, right, left;

size_t padded(size_t nbytes) {
  return (nbytes + kGap - 1) / kGap * kGap + kGap;
}

size_t area_bytes(size_t element) {
  size_t nbytes = kGap;
  for (const size_t n : kCounts) nbytes += padded(n * element);
  return nbytes;
}

/// Calls visit(offset, nbytes, n) for the block of each count in an area.
template <class Visit>
void for_each_block(size_t element, Visit visit) {
  size_t offset = kGap;
  for (const size_t n : kCounts) {
    visit(offset, n * element, n);
    offset += padded(n * element);
  }
}

unsigned seed_of(int pe, int form, size_t n) {
  return static_cast<unsigned>(pe * 40 + form * 7 + n % 5);
}

/// The area holds the pattern of `pe` in every block and guards everywhere else.
void check_area(const unsigned char* area, size_t element, int pe, int form) {
  size_t end = 0;
  for_each_block(element, [&](size_t offset, size_t nbytes, size_t n) {
    CHECK_BYTES(area + end, offset - end, kGuard);
    CHECK_PATTERN(area + offset, nbytes, seed_of(pe, form, n));
    end = offset + nbytes;
  });
  CHECK_BYTES(area + end, area_bytes(element) - end, kGuard);
}

void fill_area(unsigned char* area, size_t element, int pe, int form) {
  for_each_block(element, [&](size_t offset, size_t nbytes, size_t n) {
    check_fill(area + offset, nbytes, seed_of(pe, form, n));
  });
}

void test_counts(const Moves& moves, unsigned char* remote, unsigned char* local) {
  const size_t nbytes = area_bytes(moves.element);
  for (int form = 0; form < 4; ++form) {
    check_step("%s put %s", moves.name, kForms[form].name);
    memset(remote, kGuard, nbytes);
    fill_area(local, moves.element, me, form);
    shmem_barrier_all();
    for_each_block(moves.element, [&](size_t offset, size_t, size_t n) {
      moves.put[form](remote + offset, local + offset, n, right);
    });
    shmem_barrier_all();
    check_area(remote, moves.element, left, form);

    check_step("%s get %s", moves.name, kForms[form].name);
    memset(local, kGuard, nbytes);
    for_each_block(moves.element, [&](size_t offset, size_t, size_t n) {
      moves.get[form](local + offset, remote + offset, n, right);
    });
    if (kForms[form].nbi) shmem_quiet();
    check_area(local, moves.element, me, form);  // what this PE put there comes back
    shmem_barrier_all();
  }
}

void test_large(const Moves& moves, unsigned char* remote, unsigned char* local) {
  for (const size_t nbytes : kLargeBytes) {
    const size_t n = nbytes / moves.element;
    for (int form = 0; form < (check_quick() ? 2 : 4); ++form) {
      check_step("%s put %s of %zu bytes", moves.name, kForms[form].name, n * moves.element);
      memset(remote, kGuard, nbytes + kGap);
      check_fill(local, nbytes, seed_of(me, form, nbytes));
      shmem_barrier_all();
      moves.put[form](remote, local, n, right);
      shmem_barrier_all();
      CHECK_PATTERN(remote, n * moves.element, seed_of(left, form, nbytes));
      CHECK_BYTES(remote + n * moves.element, kGap, kGuard);
      check_step("%s get %s of %zu bytes", moves.name, kForms[form].name, n * moves.element);
      memset(local, 0, nbytes);
      moves.get[form](local, remote, n, right);
      if (kForms[form].nbi) shmem_quiet();
      CHECK_PATTERN(local, n * moves.element, seed_of(me, form, nbytes));
      shmem_barrier_all();
    }
  }
}

/// Everyone to and from everyone at once, each pair in its own slot.
void test_all_pairs(unsigned char* remote, unsigned char* local) {
  constexpr size_t kSlot = 1000;
  check_step("all pairs");
  for (int pe = 0; pe < npes; ++pe) {
    check_fill(local + pe * kSlot, kSlot, static_cast<unsigned>(me * npes + pe));
    shmem_putmem_nbi(remote + me * kSlot, local + pe * kSlot, kSlot, pe);
  }
  shmem_barrier_all();
  for (int pe = 0; pe < npes; ++pe) CHECK_PATTERN(remote + pe * kSlot, kSlot, static_cast<unsigned>(pe * npes + me));
  for (int pe = 0; pe < npes; ++pe) shmem_getmem_nbi(local + pe * kSlot, remote + me * kSlot, kSlot, pe);
  shmem_quiet();
  for (int pe = 0; pe < npes; ++pe) CHECK_PATTERN(local + pe * kSlot, kSlot, static_cast<unsigned>(me * npes + pe));
  shmem_barrier_all();
}

}  // namespace

int main() {
  check_begin("put_get");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  static_assert(kNcounts == 16, "the list of counts that the standard's corner cases ask for");

  const size_t room = kLargeBytes[2] + area_bytes(16) + 1000 * static_cast<size_t>(npes);
  auto* remote = static_cast<unsigned char*>(check_alloc(room));
  std::vector<unsigned char> outside(room);
  auto* symmetric = static_cast<unsigned char*>(check_alloc(room));
  for (const Moves& moves : kMoves) {
    test_counts(moves, remote, outside.data());
    test_counts(moves, remote, symmetric);
    if (moves.element == 16 || &moves == &mem_moves()) test_large(moves, remote, outside.data());
  }
  test_all_pairs(remote, outside.data());
  shmem_free(symmetric);
  shmem_free(remote);
  return check_end();
}
