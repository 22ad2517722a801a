// SPDX-License-Identifier: BSD-3-Clause
//
// The to_all reductions of every type and operation over active sets: values, in place, pSync and pWrk.
#include <complex>
#include <cstring>

#include "active_sets.h"

namespace {

int me, npes;
constexpr int kOddWrk = 3;  // the program's pWrk is as small as the standard allows, between guards

template <class T>
using ToAll = void (*)(T*, const T*, int, int, int, int, T*, long*);

/// Small whole numbers, so that sums and products are exact in every type and order.
template <class T>
T operand(int pe, int i) {
  return static_cast<T>(static_cast<float>((pe * 5 + i * 3) % 4 + 1));
}

enum class Op { bit_and, bit_or, bit_xor, max, min, sum, prod };

template <class T>
T combine(Op op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (op == Op::bit_and) return static_cast<T>(a & b);
    if (op == Op::bit_or) return static_cast<T>(a | b);
    if (op == Op::bit_xor) return static_cast<T>(a ^ b);
  }
  if constexpr (std::is_arithmetic_v<T>) {
    if (op == Op::max) return a > b ? a : b;
    if (op == Op::min) return a < b ? a : b;
  }
  return op == Op::sum ? static_cast<T>(a + b) : static_cast<T>(a * b);
}

template <class T>
struct Case {
  const char* name;
  ToAll<T> call;
  Op op;
};

template <class T>
struct Memory {
  explicit Memory(int n)
      : wrk_elements(std::max(n / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE)),
        source(static_cast<T*>(check_alloc(static_cast<size_t>(n) * sizeof(T)))),
        dest(static_cast<T*>(check_alloc(static_cast<size_t>(n) * sizeof(T)))),
        wrk(static_cast<T*>(check_alloc(static_cast<size_t>(wrk_elements + 2 * kOddWrk) * sizeof(T)))) {
    memset(static_cast<void*>(wrk), 0x5a, static_cast<size_t>(wrk_elements + 2 * kOddWrk) * sizeof(T));
    shmem_barrier_all();
  }
  ~Memory() {
    CHECK_BYTES(wrk, kOddWrk * sizeof(T), 0x5a);
    CHECK_BYTES(wrk + kOddWrk + wrk_elements, kOddWrk * sizeof(T), 0x5a);
    shmem_free(wrk);
    shmem_free(dest);
    shmem_free(source);
  }
  Memory(const Memory&) = delete;
  const int wrk_elements;
  T* source;
  T* dest;
  T* wrk;
};

template <class T>
void run(const Case<T>& test, const ActiveSet& set, Memory<T>& memory, int n, bool in_place, long* psync) {
  for (int i = 0; i < n; ++i) memory.source[i] = operand<T>(me, i);
  T* dest = in_place ? memory.source : memory.dest;
  test.call(dest, memory.source, n, SET_ARGUMENTS(set), memory.wrk + kOddWrk, psync);
  for (int i = 0; i < n; ++i) {
    T expected = operand<T>(set.pe(0), i);
    for (int r = 1; r < set.size; ++r) expected = combine(test.op, expected, operand<T>(set.pe(r), i));
    CHECK(dest[i] == expected, "%s, n %d, in place %d: element %d is wrong", test.name, n, in_place, i);
  }
  if (!in_place)
    for (int i = 0; i < n; ++i)
      CHECK(memory.source[i] == operand<T>(me, i), "%s, n %d: source element %d changed", test.name, n, i);
}

/// `sets` one after the other; dest and pWrk serve all of them, so each is followed by a barrier.
template <class T>
void over_sets(const Case<T>& test, const std::vector<ActiveSet>& sets, int n, const SyncArrays& psync) {
  Memory<T> memory(n);
  for (size_t s = 0; s < sets.size(); ++s) {
    CHECK_STEP_SET(test.name, sets[s]);
    for (const bool in_place : {false, true}) {
      if (sets[s].rank >= 0) {
        run(test, sets[s], memory, n, in_place, psync[s]);
        SyncArrays::check(psync[s]);
      }
      shmem_barrier_all();
    }
  }
}

/// All sets for one case of a type, a few sets for the others.
template <class T>
void test_type(std::initializer_list<Case<T>> cases) {
  const std::vector<ActiveSet> all = all_active_sets();
  const ActiveSet odd =
      make_active_set(npes > 2 ? 1 : 0, npes > 4 ? 1 : 0, npes > 2 ? (npes - 1) / (npes > 4 ? 2 : 1) : npes);
  const std::vector<ActiveSet> few{make_active_set(0, 0, npes), odd};
  const SyncArrays psync(all.size() + few.size());
  bool first = true;
  for (const Case<T>& test : cases) {
    for (const int n : {1, 7, 1500}) over_sets(test, few, n, psync);
    if (first && !check_quick()) over_sets(test, all, 40, psync);
    first = false;
  }
}

/// Back to back: two pSync and two pWrk in turn, no barrier in between, dest changes place.
void test_alternating(int n, int rounds) {
  const ActiveSet set = make_active_set(0, 0, npes);
  const ActiveSet part = make_active_set(npes > 1 ? 1 : 0, 0, npes > 1 ? npes - 1 : 1);
  for (const ActiveSet& each : {set, part}) {
    const SyncArrays psync(2);
    Memory<long> first(n), second(n);
    Memory<long>* const memory[2] = {&first, &second};
    CHECK_STEP_SET("alternating arrays", each);
    for (int round = 0; each.rank >= 0 && round < rounds; ++round)
      run<long>({"long_sum", shmem_long_sum_to_all, Op::sum}, each, *memory[round % 2], n, round % 5 == 0,
                psync[static_cast<size_t>(round % 2)]);
    psync.check_all();
  }
}

/// A repeated call gives equal bits each time, whatever order the PEs come in.
void test_same_bits(int n) {
  const SyncArrays psync(2);
  Memory<double> memory(n);
  std::vector<double> before;
  check_step("the same bits, %d elements", n);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < n; ++i) memory.source[i] = 1.0 / (me * 31 + i * 7 + 3) * (i % 2 ? -1e6 : 1);
    if ((round + me) % 3 == 0) usleep(50);
    shmem_double_sum_to_all(memory.dest, memory.source, n, 0, 0, npes, memory.wrk + kOddWrk,
                            psync[static_cast<size_t>(round % 2)]);
    if (round == 0) before.assign(memory.dest, memory.dest + n);
    CHECK(memcmp(before.data(), memory.dest, static_cast<size_t>(n) * sizeof(double)) == 0, "round %d differs", round);
    shmem_barrier_all();
  }
  for (int i = 0; i < n; ++i) {
    const double theirs = shmem_double_g(memory.dest + i, (me + 1) % npes);
    CHECK(memcmp(&theirs, &before[static_cast<size_t>(i)], sizeof theirs) == 0, "element %d differs between PEs", i);
  }
  shmem_barrier_all();
}

#define CASE(N, OP, NAME) \
  { #N "_" #NAME "_to_all", shmem_##N##_##NAME##_to_all, Op::OP }
#define ORDER_CASES(N) CASE(N, max, max), CASE(N, min, min)
#define SUM_CASES(N) CASE(N, sum, sum), CASE(N, prod, prod)
#define BITS_CASES(N) CASE(N, bit_and, and), CASE(N, bit_or, or), CASE(N, bit_xor, xor)

__extension__ typedef float _Complex ComplexFloat;
__extension__ typedef double _Complex ComplexDouble;

}  // namespace

int main() {
  check_begin("active_reduce");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  test_type<short>({BITS_CASES(short), ORDER_CASES(short), SUM_CASES(short)});
  test_type<int>({BITS_CASES(int), ORDER_CASES(int), SUM_CASES(int)});
  test_type<long>({BITS_CASES(long), ORDER_CASES(long), SUM_CASES(long)});
  test_type<long long>({BITS_CASES(longlong), ORDER_CASES(longlong), SUM_CASES(longlong)});
  test_type<float>({ORDER_CASES(float), SUM_CASES(float)});
  test_type<double>({ORDER_CASES(double), SUM_CASES(double)});
  test_type<long double>({ORDER_CASES(longdouble), SUM_CASES(longdouble)});
  test_type<ComplexFloat>({SUM_CASES(complexf)});
  test_type<ComplexDouble>({SUM_CASES(complexd)});
  for (const int n : {3, 2000}) test_alternating(n, check_rounds(npes > 2 ? 200 : 600));
  for (const int n : {5, 3000}) test_same_bits(n);
  test_alternating(40000, 4);  // several blocks for each member
  return check_end();
}
