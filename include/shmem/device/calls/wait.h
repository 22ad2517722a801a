// SPDX-License-Identifier: BSD-3-Clause
// Waits for and tests of words in a kernel.
#ifndef SHMEM_DEVICE_CALLS_WAIT_H
#define SHMEM_DEVICE_CALLS_WAIT_H

#include "shmem/device/calls/define.h"

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

#endif

#endif
