// SPDX-License-Identifier: BSD-3-Clause
// shmem/wait.h for kernels, and the scalar waits of shmem/deprecated.h.
#ifndef SHMEM_DEVICE_NAMES_WAIT_H
#define SHMEM_DEVICE_NAMES_WAIT_H

#include "shmem/device/names/define.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/device/wait_until.h"

namespace railshmem {
namespace device {

/// Calls on words of type T. A wait before the library runs returns at once: nobody could end it.
template <class T>
struct WordWaits {
  RAILSHMEM_KERNEL static void until(const T* ivar, int cmp, T cmp_value) {
    const WorldView& world = this_world();
    if (world.npes == 0) return;
    T seen;
    finish(world, DeviceCall::wait_until, wait_until(world, ivar, cmp, cmp_value, &seen), world.pe, ivar);
  }
  RAILSHMEM_KERNEL static int test(const T* ivar, int cmp, T cmp_value) {
    return compare(read_acquire(ivar), cmp, cmp_value) ? 1 : 0;
  }
  RAILSHMEM_KERNEL static void until_all(const Words<T>& words) {
    const WorldView& world = this_world();
    if (world.npes == 0) return;
    finish(world, DeviceCall::wait_until, wait_until_all(world, words), world.pe, words.words);
  }
  RAILSHMEM_KERNEL static size_t until_any(const Words<T>& words) {
    const WorldView& world = this_world();
    size_t found = kNoWord;
    if (world.npes == 0) return found;
    const ChannelStatus status = wait_until_any(world, words, start(words.n), &found);
    finish(world, DeviceCall::wait_until, status, world.pe, words.words);
    return found;
  }
  RAILSHMEM_KERNEL static size_t until_some(const Words<T>& words, size_t* indices) {
    const WorldView& world = this_world();
    size_t found = 0;
    if (world.npes == 0) return found;
    finish(world, DeviceCall::wait_until, wait_until_some(world, words, indices, &found), world.pe, words.words);
    return found;
  }
  RAILSHMEM_KERNEL static int all(const Words<T>& words) { return test_all(words) ? 1 : 0; }
  RAILSHMEM_KERNEL static size_t any(const Words<T>& words) { return test_any(words, start(words.n)); }
  RAILSHMEM_KERNEL static size_t some(const Words<T>& words, size_t* indices) { return test_some(words, indices); }

 private:
  /// Returns another place each time, so that every satisfied word is reported in the end.
  RAILSHMEM_KERNEL static size_t start(size_t n) {
    return n == 0 ? 0 : static_cast<size_t>(portable::clock_ns() >> 5) % n;
  }
};

}  // namespace device
}  // namespace railshmem

// clang-format off
#define RAILSHMEM_WAITS(T) railshmem::device::WordWaits<T>
#define RAILSHMEM_KERNEL_WAIT(A, N, T)                                                                                 \
  RAILSHMEM_BOTH(void, N##_wait_until, (T* ivar, int cmp, T cmp_value), (ivar, cmp, cmp_value),                        \
      (RAILSHMEM_WAITS(T)::until(ivar, cmp, cmp_value)))                                                               \
  RAILSHMEM_BOTH(int, N##_test, (T* ivar, int cmp, T cmp_value), (ivar, cmp, cmp_value),                               \
      (RAILSHMEM_WAITS(T)::test(ivar, cmp, cmp_value)))

/// B: RAILSHMEM_BOTH or, for extensions, RAILSHMEM_BOTH_EXTENSION. VALUE: the parameter cmp_value with its type;
/// VALUES and STEP: how Words finds the value of a word.
#define RAILSHMEM_KERNEL_WORDS(B, R, NAME, T, VALUE, VALUES, STEP, CALL)                                               \
  B(R, NAME, (T* ivars, size_t nelems, const int* status, int cmp, VALUE),                                             \
      (ivars, nelems, status, cmp, cmp_value), (RAILSHMEM_WAITS(T)::CALL({ivars, nelems, status, cmp, VALUES, STEP})))
#define RAILSHMEM_KERNEL_SOME(B, R, NAME, T, VALUE, VALUES, STEP, CALL)                                                \
  B(R, NAME, (T* ivars, size_t nelems, size_t* indices, const int* status, int cmp, VALUE),                            \
      (ivars, nelems, indices, status, cmp, cmp_value),                                                                \
      (RAILSHMEM_WAITS(T)::CALL({ivars, nelems, status, cmp, VALUES, STEP}, indices)))
#define RAILSHMEM_KERNEL_WORDS_BOTH(M, B, R, NAME, T, CALL)                                                            \
  M(B, R, NAME, T, T cmp_value, &cmp_value, 0, CALL)                                                                   \
  M(B, R, NAME##_vector, T, const T* cmp_value, cmp_value, 1, CALL)
#define RAILSHMEM_KERNEL_WAIT_MANY(B, N, T)                                                                            \
  RAILSHMEM_KERNEL_WORDS_BOTH(RAILSHMEM_KERNEL_WORDS, B, void, N##_wait_until_all, T, until_all)                       \
  RAILSHMEM_KERNEL_WORDS_BOTH(RAILSHMEM_KERNEL_WORDS, B, size_t, N##_wait_until_any, T, until_any)                     \
  RAILSHMEM_KERNEL_WORDS_BOTH(RAILSHMEM_KERNEL_SOME, B, size_t, N##_wait_until_some, T, until_some)                    \
  RAILSHMEM_KERNEL_WORDS_BOTH(RAILSHMEM_KERNEL_WORDS, B, int, N##_test_all, T, all)                                    \
  RAILSHMEM_KERNEL_WORDS_BOTH(RAILSHMEM_KERNEL_WORDS, B, size_t, N##_test_any, T, any)                                 \
  RAILSHMEM_KERNEL_WORDS_BOTH(RAILSHMEM_KERNEL_SOME, B, size_t, N##_test_some, T, some)
// clang-format on

RAILSHMEM_AMO_TYPES(RAILSHMEM_KERNEL_WAIT, )
RAILSHMEM_AMO_TYPES(RAILSHMEM_KERNEL_WAIT_MANY, RAILSHMEM_BOTH)
RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_KERNEL_WAIT, )
RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_KERNEL_WAIT_MANY, RAILSHMEM_BOTH_EXTENSION)
RAILSHMEM_BOTH(void, wait_until, (long* ivar, int cmp, long cmp_value), (ivar, cmp, cmp_value),
               railshmem::device::WordWaits<long>::until(ivar, cmp, cmp_value))

#endif

#endif
