// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point synchronisation: every name of include/shmem/wait.h and the old waits.
#include "src/rma/wait.h"

#include "src/api/alias.h"
#include "src/api/probe.h"

using namespace railshmem;

// clang-format off
// Tests are no waits: polling them is counted as nothing.
#define WAITING(NAME, NBYTES)      \
  PeState& state = pe_state(NAME); \
  RAILSHMEM_PROBE_PLAIN(wait, NAME, NBYTES)
#define TESTING(NAME, NBYTES) PeState& state = pe_state(NAME)
#define SCALAR(N, T)                                            \
  void pshmem_##N##_wait_until(T* ivar, int cmp, T cmp_value) { \
    static constexpr char kName[] = "shmem_" #N "_wait_until";  \
    WAITING(kName, sizeof(T));                                  \
    wait_until<T>(state, kName, ivar, cmp, cmp_value);          \
  }                                                             \
  int pshmem_##N##_test(T* ivar, int cmp, T cmp_value) {        \
    static constexpr char kName[] = "shmem_" #N "_test";        \
    TESTING(kName, sizeof(T));                                  \
    return test<T>(state, kName, ivar, cmp, cmp_value);         \
  }

// A call with all/any/some: without indices, and with them.
#define MANY(ENTER, PREFIX, RESULT, FUNCTION, OPERATION, T, VALUE, VALUES, ONE)          \
  RESULT PREFIX##FUNCTION(T* ivars, size_t nelems, const int* status, int cmp, VALUE) {  \
    static constexpr char kName[] = "shmem_" #FUNCTION;                                  \
    ENTER(kName, nelems * sizeof(T));                                                    \
    return OPERATION(state, WaitSet<T>{kName, ivars, nelems, status, cmp, VALUES, ONE, state.device}); \
  }
#define SOME(ENTER, PREFIX, FUNCTION, OPERATION, T, VALUE, VALUES, ONE)                                  \
  size_t PREFIX##FUNCTION(T* ivars, size_t nelems, size_t* indices, const int* status, int cmp, VALUE) { \
    static constexpr char kName[] = "shmem_" #FUNCTION;                                                  \
    ENTER(kName, nelems * sizeof(T));                                                                    \
    return OPERATION(state, WaitSet<T>{kName, ivars, nelems, status, cmp, VALUES, ONE, state.device}, indices);        \
  }
#define MANIES(PREFIX, N, T, SUFFIX, VALUE, VALUES, ONE)                                     \
  MANY(WAITING, PREFIX, void, N##_wait_until_all##SUFFIX, wait_all, T, VALUE, VALUES, ONE)   \
  MANY(WAITING, PREFIX, size_t, N##_wait_until_any##SUFFIX, wait_any, T, VALUE, VALUES, ONE) \
  SOME(WAITING, PREFIX, N##_wait_until_some##SUFFIX, wait_some, T, VALUE, VALUES, ONE)       \
  MANY(TESTING, PREFIX, int, N##_test_all##SUFFIX, test_all, T, VALUE, VALUES, ONE)          \
  MANY(TESTING, PREFIX, size_t, N##_test_any##SUFFIX, test_any, T, VALUE, VALUES, ONE)       \
  SOME(TESTING, PREFIX, N##_test_some##SUFFIX, test_some, T, VALUE, VALUES, ONE)
#define ALL_FORMS(N, T)                                  \
  SCALAR(N, T)                                           \
  MANIES(pshmem_, N, T, , T cmp_value, &cmp_value, true) \
  MANIES(pshmem_, N, T, _vector, const T* cmp_values, cmp_values, false)
#define SHORT_FORMS(N, T)                                \
  MANIES(shmemx_, N, T, , T cmp_value, &cmp_value, true) \
  MANIES(shmemx_, N, T, _vector, const T* cmp_values, cmp_values, false)

#define OLD_WAIT(N, T)                                                        \
  void pshmem_##N##_wait(T* ivar, T cmp_value) {                              \
    WAITING("shmem_" #N "_wait", sizeof(T));                                  \
    wait_until<T>(state, "shmem_" #N "_wait", ivar, SHMEM_CMP_NE, cmp_value); \
  }

extern "C" {
RAILSHMEM_FOR_AMO_TYPES(ALL_FORMS)
RAILSHMEM_FOR_OLD_P2P_TYPES(SHORT_FORMS)
RAILSHMEM_FOR_OLD_P2P_TYPES(SCALAR)
RAILSHMEM_FOR_OLD_WAIT_TYPES(OLD_WAIT)
// clang-format on

void pshmem_wait(long* ivar, long cmp_value) {
  WAITING("shmem_wait", sizeof(long));
  wait_until<long>(state, "shmem_wait", ivar, SHMEM_CMP_NE, cmp_value);
}
void pshmem_wait_until(long* ivar, int cmp, long cmp_value) {
  WAITING("shmem_wait_until", sizeof(long));
  wait_until<long>(state, "shmem_wait_until", ivar, cmp, cmp_value);
}
}
RAILSHMEM_WAIT_FUNCTIONS(RAILSHMEM_WEAK)
RAILSHMEM_OLD_WAIT_FUNCTIONS(RAILSHMEM_WEAK)
RAILSHMEM_OLD_P2P_FUNCTIONS(RAILSHMEM_WEAK)
