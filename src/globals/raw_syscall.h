// SPDX-License-Identifier: BSD-3-Clause
// System calls for code that runs while the process's other threads are held, or while its globals are being moved.
// Such code must not allocate, lock, or write a global; sanitizers' instrumentation and interceptors do all of that.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <concepts>
#include <cstddef>
#include <cstdint>

#define RAILSHMEM_BARE __attribute__((no_sanitize("address", "thread", "undefined")))

namespace railshmem {

// The kernel reads whole registers, and an int passed through "..." leaves the upper half undefined.
RAILSHMEM_BARE inline long raw_argument(const volatile void* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}
RAILSHMEM_BARE inline long raw_argument(decltype(nullptr)) noexcept {
  return 0;
}
template <std::integral T>
RAILSHMEM_BARE inline long raw_argument(T value) noexcept {
  return static_cast<long>(value);
}

/// Value, or -1 with errno, like the libc function of each.
template <class... Args>
RAILSHMEM_BARE inline long raw(long number, Args... args) noexcept {
  return ::syscall(number, raw_argument(args)...);
}

RAILSHMEM_BARE inline void futex_wait(int* word, int value) noexcept {
  raw(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
RAILSHMEM_BARE inline void futex_wake_all(int* word) noexcept {
  raw(SYS_futex, word, FUTEX_WAKE_PRIVATE, 0x7fffffff, nullptr, nullptr, 0);
}

}  // namespace railshmem
