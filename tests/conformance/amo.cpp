// SPDX-License-Identifier: BSD-3-Clause
//
// Every atomic operation of every type, one at a time: old values, new values, neighbours untouched.
#include <initializer_list>
#include <type_traits>

#include "check.h"
#include "type_lists.h"

namespace {

int me, npes, right, left;

/// One word between two that must not change, on this PE; the target of the left neighbour.
template <class T>
struct Field {
  T before, word, after;
};

template <class T>
class Target {
 public:
  Target(const char* type, void* room) : type_(type), field_(static_cast<Field<T>*>(room)) {}

  T* word() const { return &field_->word; }

  /// Runs `operate` on the right neighbour's word holding `start`; afterwards that word must hold `want`.
  template <class Operate>
  void expect(const char* operation, T start, T want, Operate operate) {
    check_step("%s %s", type_, operation);
    memset(static_cast<void*>(field_), 0x3c, sizeof *field_);
    field_->word = start;
    shmem_barrier_all();
    operate();
    shmem_barrier_all();
    CHECK(memcmp(&field_->word, &want, sizeof want) == 0, "the word holds %g, expected %g",
          static_cast<double>(field_->word), static_cast<double>(want));
    CHECK_BYTES(&field_->before, sizeof(T), 0x3c);
    CHECK_BYTES(&field_->after, sizeof(T), 0x3c);
  }

  /// expect() for an operation that returns the old value.
  template <class Operate>
  void expect_fetch(const char* operation, T start, T want, Operate operate) {
    expect(operation, start, want, [&] { check_old(operate(), start); });
  }

  /// expect() for an operation that delivers the old value at quiet.
  template <class Operate>
  void expect_nbi(const char* operation, T start, T want, Operate operate) {
    expect(operation, start, want, [&] {
      T old = static_cast<T>(77);
      operate(&old);
      shmem_quiet();
      check_old(old, start);
    });
  }

 private:
  void check_old(T old, T start) {
    CHECK(memcmp(&old, &start, sizeof old) == 0, "the old value is %g, expected %g", static_cast<double>(old),
          static_cast<double>(start));
  }

  const char* type_;
  Field<T>* field_;
};

/// Values that use the top bits, so that a narrower or sign-extended operation is noticed.
template <class T>
T big(int k) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(-1.5 * k);
  return static_cast<T>(static_cast<T>(-1) - static_cast<T>(k) * 3);
}

// clang-format off
#define BOTH(TARGET, KIND, OP, START, WANT, N, ...)                                                                  \
  TARGET.KIND(#OP, START, WANT, [&] { return shmem_##N##_atomic_##OP(__VA_ARGS__, right); });                        \
  TARGET.KIND("ctx " #OP, START, WANT, [&] { return shmem_ctx_##N##_atomic_##OP(SHMEM_CTX_DEFAULT, __VA_ARGS__, right); });
#define BOTH_NBI(TARGET, OP, START, WANT, N, ...)                                                                    \
  TARGET.expect_nbi(#OP, START, WANT, [&](auto* old) { shmem_##N##_atomic_##OP(old, __VA_ARGS__, right); });         \
  TARGET.expect_nbi("ctx " #OP, START, WANT,                                                                         \
      [&](auto* old) { shmem_ctx_##N##_atomic_##OP(SHMEM_CTX_DEFAULT, old, __VA_ARGS__, right); });

#define TEST_EXTENDED(N, T) {                                                  \
    Target<T> t(#N, room);                                                     \
    BOTH(t, expect_fetch, fetch, big<T>(1), big<T>(1), N, t.word())            \
    BOTH(t, expect, set, big<T>(2), big<T>(3), N, t.word(), big<T>(3))         \
    BOTH(t, expect_fetch, swap, big<T>(4), big<T>(5), N, t.word(), big<T>(5))  \
    BOTH_NBI(t, fetch_nbi, big<T>(6), big<T>(6), N, t.word())                  \
    BOTH_NBI(t, swap_nbi, big<T>(7), big<T>(8), N, t.word(), big<T>(8)) }

#define TEST_STANDARD(N, T) {                                                                              \
    Target<T> t(#N, room);                                                                                 \
    const T one_less = static_cast<T>(-1);                                                                 \
    BOTH(t, expect_fetch, compare_swap, big<T>(1), big<T>(2), N, t.word(), big<T>(1), big<T>(2))           \
    BOTH(t, expect_fetch, compare_swap, big<T>(1), big<T>(1), N, t.word(), big<T>(3), big<T>(2))           \
    BOTH(t, expect_fetch, fetch_inc, static_cast<T>(41), static_cast<T>(42), N, t.word())                  \
    BOTH(t, expect, inc, one_less, static_cast<T>(0), N, t.word())                                         \
    BOTH(t, expect_fetch, fetch_add, static_cast<T>(5), static_cast<T>(3), N, t.word(), static_cast<T>(-2))\
    BOTH(t, expect, add, static_cast<T>(9), big<T>(-3), N, t.word(), static_cast<T>(-1))                   \
    BOTH_NBI(t, compare_swap_nbi, big<T>(1), big<T>(2), N, t.word(), big<T>(1), big<T>(2))                 \
    BOTH_NBI(t, compare_swap_nbi, big<T>(1), big<T>(1), N, t.word(), big<T>(3), big<T>(2))                 \
    BOTH_NBI(t, fetch_inc_nbi, one_less, static_cast<T>(0), N, t.word())                                   \
    BOTH_NBI(t, fetch_add_nbi, static_cast<T>(1), static_cast<T>(11), N, t.word(), static_cast<T>(10)) }

#define TEST_BITS(OP, C, N, T)                                                                                  \
    BOTH(t, expect_fetch, fetch_##OP, a, static_cast<T>(a C b), N, t.word(), b)                                 \
    BOTH(t, expect, OP, a, static_cast<T>(a C b), N, t.word(), b)                                               \
    BOTH_NBI(t, fetch_##OP##_nbi, a, static_cast<T>(a C b), N, t.word(), b)
#define TEST_BITWISE(N, T) {                                                   \
    Target<T> t(#N, room);                                                     \
    const T a = static_cast<T>(0xf0f0ff00a5a5c3c3u), b = static_cast<T>(0x8f3c5a69deadbeefu); \
    TEST_BITS(and, &, N, T) TEST_BITS(or, |, N, T) TEST_BITS(xor, ^, N, T) }
// clang-format on

/// NaNs keep sign, quiet bit and payload through set, swap and fetch.
template <class T, class Bits>
void test_nan(T* word, Bits bits, void (*set)(T*, T, int), T (*swap)(T*, T, int), T (*fetch)(const T*, int)) {
  check_step("NaN 0x%llx", static_cast<unsigned long long>(bits));
  T nan, zero = 0, back;
  Bits got;
  memcpy(&nan, &bits, sizeof nan);
  shmem_barrier_all();
  set(word, nan, right);
  shmem_fence();  // without it the fetch may pass
  back = fetch(word, right);
  memcpy(&got, &back, sizeof got);
  CHECK_EQ(got, bits);
  back = swap(word, zero, right);
  memcpy(&got, &back, sizeof got);
  CHECK_EQ(got, bits);
  swap(word, nan, right);
  shmem_barrier_all();
  memcpy(&got, word, sizeof got);
  CHECK_EQ(got, bits);
}

}  // namespace

int main() {
  check_begin("amo");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  void* room = check_alloc(3 * sizeof(double));
  RAILSHMEM_FOR_AMO_EXTENDED_TYPES(TEST_EXTENDED)
  RAILSHMEM_FOR_AMO_TYPES(TEST_STANDARD)
  RAILSHMEM_FOR_AMO_BITWISE_TYPES(TEST_BITWISE)
  for (const uint32_t bits : {0x7fc00001u, 0xffc12345u, 0xffffffffu})
    test_nan<float>(static_cast<float*>(room), bits, shmem_float_atomic_set, shmem_float_atomic_swap,
                    shmem_float_atomic_fetch);
  for (const uint64_t bits : {0x7ff8000000000001u, 0xfff8123456789abcu, 0xffffffffffffffffu})
    test_nan<double>(static_cast<double*>(room), bits, shmem_double_atomic_set, shmem_double_atomic_swap,
                     shmem_double_atomic_fetch);
  shmem_free(room);
  return check_end();
}
