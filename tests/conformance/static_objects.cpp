// SPDX-License-Identifier: BSD-3-Clause
//
// Global and static objects are symmetric: put, get, atomics, signals and waits on those of C and of C++.
#include "static_objects.h"

#include <array>

#include "check.h"

namespace {

int me, npes, right, left;

/// Constructed at run time, before the library is started; the library must not undo that.
int first_prime() {
  return getpid() > 0 ? 2 : 0;
}
std::array<int, 4> constructed = {first_prime(), 3, 5, 7};

struct Holder {
  static long word;
  static inline double inline_value = 2.5;
};
long Holder::word = 99;

template <class T>
T* function_static() {
  static T value = 17;
  return &value;
}

/// A word: what it holds at start is what the program wrote there, and every kind of access reaches the right PE's.
void test_word(const char* name, long* word, long initial) {
  check_step("%s", name);
  CHECK_EQ(*word, initial);
  CHECK_EQ(shmem_long_g(word, right), initial);
  CHECK(shmem_addr_accessible(word, right) == 1, "%p is not accessible", static_cast<void*>(word));
  shmem_barrier_all();
  shmem_long_p(word, me + 500, right);
  shmem_barrier_all();
  CHECK_EQ(*word, left + 500);
  shmem_barrier_all();
  CHECK_EQ(shmem_long_atomic_fetch_add(word, 7, right), me + 500);
  shmem_barrier_all();
  CHECK_EQ(*word, left + 507);
  shmem_barrier_all();
  *word = 0;
  shmem_barrier_all();
  for (int pe = 0; pe < npes; ++pe)
    for (int i = 0; i < 20; ++i) shmem_long_atomic_inc(word, pe);
  shmem_long_wait_until(word, SHMEM_CMP_EQ, 20L * npes);
  shmem_barrier_all();
}

void test_blocks() {
  check_step("large array of zeroes");
  CHECK_BYTES(c_bss, kBssBytes, 0);
  shmem_barrier_all();
  static unsigned char mine[kBssBytes];
  check_fill(mine, kBssBytes, me + 1);
  shmem_putmem(c_bss, mine, kBssBytes, right);
  shmem_barrier_all();
  CHECK_PATTERN(c_bss, kBssBytes, left + 1);
  memset(mine, 0, kBssBytes);
  shmem_getmem_nbi(mine, c_bss, kBssBytes, right);  // both ends are global objects
  shmem_quiet();
  CHECK_PATTERN(mine, kBssBytes, me + 1);
  shmem_barrier_all();

  check_step("initialised array");
  CHECK(c_data[0] == 11 && c_data[2] == 33 && c_data[3] == 0, "%ld %ld %ld", c_data[0], c_data[2], c_data[3]);
  shmem_barrier_all();
  long values[kStaticLongs];
  for (int i = 0; i < kStaticLongs; ++i) values[i] = me * 1000L + i;
  shmem_long_iput(c_data, values, 3, 3, kStaticLongs / 3, right);
  shmem_barrier_all();
  for (int i = 0; i < kStaticLongs; i += 3) CHECK_EQ(c_data[i], left * 1000L + i);
  CHECK_EQ(c_data[1], 22);
  shmem_barrier_all();
}

/// Data and signal among the globals; and from a heap source into a global, from a global source into the heap.
void test_signals(unsigned char* heap) {
  check_step("put with signal between global objects");
  for (unsigned r = 1; r <= 50; ++r) {
    check_fill(heap, 5000, me + r);
    shmem_putmem_signal(c_bss, heap, 5000, &c_signal, r, SHMEM_SIGNAL_SET, right);
    CHECK_EQ(shmem_signal_wait_until(&c_signal, SHMEM_CMP_GE, r), r);
    CHECK_PATTERN(c_bss, 5000, left + r);
    shmem_barrier_all();
  }
  check_step("between heap and global objects");
  check_fill(c_bss, 5000, me + 70);
  shmem_barrier_all();
  shmem_putmem(heap, c_bss, 5000, right);
  shmem_barrier_all();
  CHECK_PATTERN(heap, 5000, left + 70);
  shmem_getmem(heap, c_bss, 5000, right);
  CHECK_PATTERN(heap, 5000, right + 70);
  shmem_barrier_all();
}

void test_cpp_objects() {
  check_step("C++ objects");
  CHECK(constructed[0] == 2 && constructed[3] == 7, "%d %d", constructed[0], constructed[3]);
  CHECK(Holder::inline_value == 2.5, "%g", Holder::inline_value);
  shmem_barrier_all();
  shmem_int_p(&constructed[1], me + 30, right);
  shmem_double_p(&Holder::inline_value, me + 0.5, right);
  shmem_barrier_all();
  CHECK_EQ(constructed[1], left + 30);
  CHECK(Holder::inline_value == left + 0.5, "%g", Holder::inline_value);
  CHECK_EQ(constructed[2], 5);
  shmem_barrier_all();
}

}  // namespace

int main() {
  check_begin("static_objects");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  test_word("file static of C", c_static_data(), 1234);
  test_word("function static of C", c_function_static(), 4321);
  test_word("static member of C++", &Holder::word, 99);
  test_word("function static of C++", function_static<long>(), 17);
  test_blocks();
  auto* heap = static_cast<unsigned char*>(check_alloc(5000));
  test_signals(heap);
  test_cpp_objects();
  shmem_free(heap);
  return check_end();
}
