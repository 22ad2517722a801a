// SPDX-License-Identifier: BSD-3-Clause
//
// The type-generic names at run time: each reaches the function of its type, with and without a context in front.
// Compiled twice, as C11 (_Generic) and, through generics_cpp.cpp, as C++ (overloads).
#include "check.h"

static int me, npes, right, left;

// clang-format off
// The types that selection can tell apart. The library's own tables cannot drive this: a macro does not expand inside
// its own expansion, and the generic names expand those tables.
#define FOR_BITWISE(X) X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) \
  X(int32, int32_t) X(int64, int64_t)
#define FOR_STANDARD(X) X(int, int) X(long, long) X(longlong, long long) X(uint, unsigned int) \
  X(ulong, unsigned long) X(ulonglong, unsigned long long)
#define FOR_EXTENDED(X) FOR_STANDARD(X) X(float, float) X(double, double)
#define FOR_RMA(X) FOR_EXTENDED(X) X(longdouble, long double) X(char, char) X(schar, signed char) \
  X(short, short) X(uchar, unsigned char) X(ushort, unsigned short)

/// What PE number `pe` sends.
#define VALUE(T, pe) ((T)(3 * (pe) + 5))

#define TEST_RMA(N, T)                                                    \
  {                                                                       \
    check_step("generic transfers of %s", #N);                            \
    T* const at = (T*)room;                                               \
    T mine[4], back[4];                                                   \
    for (int i = 0; i < 4; ++i) mine[i] = VALUE(T, me + i);               \
    memset(room, 0, 64 * sizeof(T));                                      \
    shmem_barrier_all();                                                  \
    shmem_put(at, mine, 2, right);                                        \
    shmem_put(SHMEM_CTX_DEFAULT, at + 2, mine + 2, 2, right);             \
    shmem_put_nbi(at + 4, mine, 4, right);                                \
    shmem_put_nbi(SHMEM_CTX_DEFAULT, at + 8, mine, 4, right);             \
    shmem_p(at + 12, mine[1], right);                                     \
    shmem_p(SHMEM_CTX_DEFAULT, at + 13, mine[2], right);                  \
    shmem_iput(at + 14, mine, 2, 1, 4, right);                            \
    shmem_ibput(at + 24, mine, 3, 2, 2, 2, right);                        \
    shmem_put_signal(at + 32, mine, 4, sig, 1, SHMEM_SIGNAL_ADD, right);  \
    shmem_put_signal_nbi(SHMEM_CTX_DEFAULT, at + 36, mine, 4, sig, 1, SHMEM_SIGNAL_ADD, right); \
    shmem_barrier_all();                                                  \
    for (int i = 0; i < 12; ++i) CHECK(at[i] == VALUE(T, left + i % 4), "element %d", i);  \
    CHECK(at[12] == VALUE(T, left + 1) && at[13] == VALUE(T, left + 2), "by p, at %d", 12); \
    for (int i = 0; i < 4; ++i) CHECK(at[14 + 2 * i] == VALUE(T, left + i), "by iput, element %d", i);     \
    for (int i = 0; i < 4; ++i) CHECK(at[24 + i + i / 2] == VALUE(T, left + i), "by ibput, element %d", i); \
    for (int i = 0; i < 8; ++i) CHECK(at[32 + i] == VALUE(T, left + i % 4), "by put_signal, element %d", i); \
    memset(back, 0, sizeof back);                                         \
    shmem_get(back, at, 2, right);                                        \
    shmem_get_nbi(SHMEM_CTX_DEFAULT, back + 2, at + 2, 2, right);         \
    shmem_quiet();                                                        \
    for (int i = 0; i < 4; ++i) CHECK(back[i] == VALUE(T, me + i), "by get, element %d", i); \
    shmem_iget(back, at + 14, 1, 2, 4, right);                            \
    for (int i = 0; i < 4; ++i) CHECK(back[i] == VALUE(T, me + i), "by iget, element %d", i); \
    CHECK(shmem_g(at + 12, right) == VALUE(T, me + 1), "by g, at %d", 12); \
    const T* const readable = at + 13;                                    \
    CHECK(shmem_g(SHMEM_CTX_DEFAULT, readable, right) == VALUE(T, me + 2), "by g, at %d", 13); \
    shmem_barrier_all();                                                  \
  }

#define TEST_EXTENDED(N, T)                                                           \
  {                                                                                   \
    check_step("generic fetch, set and swap of %s", #N);                              \
    T* const at = (T*)room;                                                           \
    T old = 0;                                                                        \
    shmem_atomic_set(at, VALUE(T, me), right);                                        \
    CHECK(shmem_atomic_fetch(at, right) == VALUE(T, me), "fetch at %p", (void*)at);   \
    CHECK(shmem_atomic_swap(SHMEM_CTX_DEFAULT, at, (T)1, right) == VALUE(T, me), "swap at %p", (void*)at); \
    shmem_atomic_fetch_nbi(&old, at, right);                                          \
    shmem_quiet();                                                                    \
    CHECK(old == (T)1, "fetch_nbi at %p", (void*)at);                                 \
    shmem_barrier_all();                                                              \
  }

#define TEST_STANDARD(N, T)                                               \
  {                                                                       \
    check_step("generic atomics and waits of %s", #N);                    \
    T* const at = (T*)room;                                               \
    T old = 0;                                                            \
    size_t indices[2];                                                    \
    *at = 4;                                                              \
    shmem_barrier_all();                                                  \
    CHECK_EQ(shmem_atomic_compare_swap(at, (T)4, (T)6, right), 4);        \
    CHECK_EQ(shmem_atomic_fetch_inc(SHMEM_CTX_DEFAULT, at, right), 6);    \
    shmem_atomic_inc(at, right);                                          \
    CHECK_EQ(shmem_atomic_fetch_add(at, (T)2, right), 8);                 \
    shmem_atomic_add(SHMEM_CTX_DEFAULT, at, (T)1, right);                 \
    shmem_atomic_fetch_add_nbi(&old, at, (T)9, right);                    \
    shmem_quiet();                                                        \
    CHECK_EQ(old, 11);                                                    \
    shmem_wait_until(at, SHMEM_CMP_EQ, (T)20);                            \
    CHECK_EQ(shmem_test(at, SHMEM_CMP_NE, (T)20), 0);                     \
    CHECK_EQ(shmem_wait_until_any(at, 1, NULL, SHMEM_CMP_GT, (T)3), 0);   \
    CHECK_EQ(shmem_test_some(at, 1, indices, NULL, SHMEM_CMP_GT, (T)3), 1); \
    CHECK_EQ(shmem_test_all(at, 1, NULL, SHMEM_CMP_LT, (T)3), 0);         \
    shmem_barrier_all();                                                  \
  }

#define TEST_BITWISE(N, T)                                                \
  {                                                                       \
    check_step("generic bitwise atomics of %s", #N);                      \
    T* const at = (T*)room;                                               \
    *at = 12;                                                             \
    shmem_barrier_all();                                                  \
    CHECK_EQ(shmem_atomic_fetch_and(at, (T)10, right), 12);               \
    CHECK_EQ(shmem_atomic_fetch_or(SHMEM_CTX_DEFAULT, at, (T)1, right), 8); \
    CHECK_EQ(shmem_atomic_fetch_xor(at, (T)15, right), 9);                \
    shmem_atomic_or(at, (T)48, right);                                    \
    shmem_atomic_and(at, (T)55, right);                                   \
    shmem_atomic_xor(at, (T)1, right);                                    \
    shmem_barrier_all();                                                  \
    CHECK_EQ(*at, ((6 | 48) & 55) ^ 1);                                   \
    shmem_barrier_all();                                                  \
  }

// clang-format on

#ifndef __cplusplus
/// Extensions: the standard has short words in the scalar calls only, C programs use them in all.
static void test_short_words(void* room) {
  short* at = room;
  const short seven = 7;
  size_t indices[2];
  check_step("many short words");
  at[0] = 7;
  at[1] = -1;
  const int status[2] = {0, 1};
  shmem_wait_until_all(at, 2, status, SHMEM_CMP_EQ, seven);
  CHECK_EQ(shmem_wait_until_any(at, 2, NULL, SHMEM_CMP_LT, 0), 1);
  CHECK_EQ(shmem_test_some(at, 2, indices, NULL, SHMEM_CMP_EQ, seven), 1);
  CHECK_EQ(indices[0], 0);
  CHECK_EQ(shmem_test_all_vector(at, 1, NULL, SHMEM_CMP_EQ, &seven), 1);
  CHECK_EQ(shmem_test_any((unsigned short*)room, 2, NULL, SHMEM_CMP_EQ, 0xffff), 1);
}
#endif

/// Arguments are evaluated once, whatever the macros expand to.
static void test_evaluation(void* room) {
  long* at = (long*)room;
  int addresses = 0, values = 0;
  check_step("arguments are evaluated once");
  *at = 0;
  shmem_barrier_all();
  shmem_p((++addresses, at), (long)(++values, 8), right);
  shmem_barrier_all();
  CHECK_EQ(*at, 8);
  shmem_barrier_all();
  CHECK_EQ(shmem_atomic_fetch_add(at + addresses++ - 1, (long)++values, right), 8);
  shmem_barrier_all();
  CHECK_EQ(*at, 10);
  CHECK_EQ(addresses, 2);
  CHECK_EQ(values, 2);
  shmem_barrier_all();
}

int main(void) {
#ifdef __cplusplus
  check_begin("generics_cpp");
#else
  check_begin("generics");
#endif
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  void* room = check_alloc(64 * sizeof(long double));
  uint64_t* sig = (uint64_t*)check_alloc(sizeof(uint64_t));
  FOR_RMA(TEST_RMA)
  FOR_EXTENDED(TEST_EXTENDED)
  FOR_STANDARD(TEST_STANDARD)
  FOR_BITWISE(TEST_BITWISE)
#ifndef __cplusplus
  test_short_words(room);
#endif
  test_evaluation(room);
  shmem_free(sig);
  shmem_free(room);
  return check_end();
}
