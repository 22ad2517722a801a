// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point synchronisation (OpenSHMEM 1.6 section 9.11): wait_until and test, one variable or many.
#pragma once

#include <cstdint>

#include "src/plugin/device_access.h"
#include "src/rma/waiter.h"

namespace railshmem {

[[noreturn, gnu::cold]] void die_bad_comparison(const char* function, int cmp) noexcept;
[[noreturn, gnu::cold]] void die_null_variable(const char* function) noexcept;

/// Gives the CPU to another process at every kTestsPerYield-th call of a thread.
void yield_now_and_then() noexcept;
inline constexpr uint32_t kTestsPerYield = 16;  // a yield with nobody to run costs as much as some twenty tests

/// acquire: pairs with the release of signal updates and of fence; what came before them is visible after.
template <class T>
[[gnu::always_inline]] inline T load_variable(DeviceAccess* device, const T* ivar) noexcept {
  if (device && device->is_device(ivar)) [[unlikely]] {
    T value;
    device->copy(&value, ivar, sizeof value);
    return value;
  }
  return __atomic_load_n(const_cast<const volatile T*>(ivar), __ATOMIC_ACQUIRE);
}

/// Constants of SHMEM_CMP_*; checked once per call by check_comparison().
enum Comparison : int { kEq = 0, kNe, kGt, kGe, kLt, kLe };

inline void check_comparison(const char* function, int cmp) noexcept {
  if (static_cast<unsigned>(cmp) > static_cast<unsigned>(kLe)) [[unlikely]]
    die_bad_comparison(function, cmp);
}

template <class T>
[[gnu::always_inline]] inline bool compares(T a, int cmp, T b) noexcept {
  switch (cmp) {
    case kEq:
      return a == b;
    case kNe:
      return a != b;
    case kGt:
      return a > b;
    case kGe:
      return a >= b;
    case kLt:
      return a < b;
    default:
      return a <= b;
  }
}

/// The end of a test that found nothing. A program that polls by tests would keep the PE that it waits for from running
/// where PEs outnumber CPUs.
inline void end_of_vain_test(PeState& state) noexcept {
  if (state.spin.share_cpus) [[unlikely]]
    yield_now_and_then();
}

/// Returns the value that satisfied the comparison.
template <class T>
inline T wait_until(PeState& state, const char* function, const T* ivar, int cmp, T value) noexcept {
  check_comparison(function, cmp);
  if (!ivar) [[unlikely]]
    die_null_variable(function);
  T seen{};
  wait_for(state, {function}, [&] {
    seen = load_variable(state.device, ivar);
    return compares(seen, cmp, value);
  });
  return seen;
}

template <class T>
inline int test(PeState& state, const char* function, const T* ivar, int cmp, T value) noexcept {
  check_comparison(function, cmp);
  if (!ivar) [[unlikely]]
    die_null_variable(function);
  if (compares(load_variable(state.device, ivar), cmp, value)) return 1;
  if (state.network) net_progress(*state.network);  // a polling loop of test() must drive what it waits for
  if (compares(load_variable(state.device, ivar), cmp, value)) return 1;
  end_of_vain_test(state);
  return 0;
}

/// The variables of an all/any/some call. status[i] != 0 excludes i; values: one for all, or one each.
template <class T>
struct WaitSet {
  const char* function;
  const T* ivars;
  size_t n;
  const int* status;
  int cmp;
  const T* values;
  bool one_value;
  DeviceAccess* device = nullptr;  ///< PeState's

  bool excluded(size_t i) const noexcept { return status && status[i] != 0; }
  bool satisfied(size_t i) const noexcept {
    return compares(load_variable(device, ivars + i), cmp, values[one_value ? 0 : i]);
  }
  bool empty() const noexcept {
    for (size_t i = 0; i < n; ++i)
      if (!excluded(i)) return false;
    return true;
  }
  void check() const noexcept {
    check_comparison(function, cmp);
    if (n > 0 && !ivars) [[unlikely]]
      die_null_variable(function);
  }
};

template <class T>
bool all_satisfied(const WaitSet<T>& set) noexcept {
  for (size_t i = 0; i < set.n; ++i)
    if (!set.excluded(i) && !set.satisfied(i)) return false;
  return true;
}

/// Where the next any/some call starts looking: an index that stays satisfied must be reported some time.
size_t next_start(size_t n) noexcept;

/// An index that is satisfied, or SIZE_MAX.
template <class T>
size_t any_satisfied(const WaitSet<T>& set, size_t start) noexcept {
  for (size_t k = 0; k < set.n; ++k) {
    const size_t i = start + k < set.n ? start + k : start + k - set.n;
    if (!set.excluded(i) && set.satisfied(i)) return i;
  }
  return SIZE_MAX;
}

/// Writes the satisfied indices; returns how many.
template <class T>
size_t some_satisfied(const WaitSet<T>& set, size_t* indices) noexcept {
  size_t found = 0;
  for (size_t i = 0; i < set.n; ++i)
    if (!set.excluded(i) && set.satisfied(i)) indices[found++] = i;
  return found;
}

template <class T>
void wait_all(PeState& state, const WaitSet<T>& set) noexcept {
  set.check();
  wait_for(state, {set.function}, [&] { return all_satisfied(set); });
}

template <class T>
size_t wait_any(PeState& state, const WaitSet<T>& set) noexcept {
  set.check();
  if (set.empty()) return SIZE_MAX;
  const size_t start = next_start(set.n);
  size_t found = SIZE_MAX;
  wait_for(state, {set.function}, [&] { return (found = any_satisfied(set, start)) != SIZE_MAX; });
  return found;
}

template <class T>
size_t wait_some(PeState& state, const WaitSet<T>& set, size_t* indices) noexcept {
  set.check();
  if (set.empty()) return 0;
  size_t found = 0;
  wait_for(state, {set.function}, [&] { return (found = some_satisfied(set, indices)) != 0; });
  return found;
}

template <class T>
int test_all(PeState& state, const WaitSet<T>& set) noexcept {
  set.check();
  if (all_satisfied(set)) return 1;
  if (state.network) net_progress(*state.network);
  if (all_satisfied(set)) return 1;
  end_of_vain_test(state);
  return 0;
}

template <class T>
size_t test_any(PeState& state, const WaitSet<T>& set) noexcept {
  set.check();
  if (set.n == 0) return SIZE_MAX;
  const size_t found = any_satisfied(set, next_start(set.n));
  if (found == SIZE_MAX && state.network) net_progress(*state.network);
  if (found == SIZE_MAX) end_of_vain_test(state);
  return found;
}

template <class T>
size_t test_some(PeState& state, const WaitSet<T>& set, size_t* indices) noexcept {
  set.check();
  const size_t found = some_satisfied(set, indices);
  if (found == 0 && state.network) net_progress(*state.network);
  if (found == 0) end_of_vain_test(state);
  return found;
}

}  // namespace railshmem
