// SPDX-License-Identifier: BSD-3-Clause
// Waiting for words of this PE's memory to change, and testing them.
#ifndef SHMEM_DEVICE_WAIT_UNTIL_H
#define SHMEM_DEVICE_WAIT_UNTIL_H

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#include "shmem/detail/world.h"
#include "shmem/device/wait.h"
#include "shmem/types.h"

namespace railshmem {
namespace device {

template <class T>
RAILSHMEM_HD inline bool compare(T word, int cmp, T value) {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return word == value;
    case SHMEM_CMP_NE:
      return word != value;
    case SHMEM_CMP_GT:
      return word > value;
    case SHMEM_CMP_GE:
      return word >= value;
    case SHMEM_CMP_LT:
      return word < value;
    default:
      return word <= value;
  }
}

template <size_t kBytes>
using BitsOf = typename std::conditional<kBytes == 2, uint16_t,
                                         typename std::conditional<kBytes == 4, uint32_t, uint64_t>::type>::type;

/// acquire: pairs with the release of a signal, or with the fence of a put before it; without it the data could be old.
template <class T>
RAILSHMEM_HD inline T read_acquire(const T* word) {
  return static_cast<T>(portable::load_acquire(reinterpret_cast<const BitsOf<sizeof(T)>*>(word)));
}
template <class T>
RAILSHMEM_HD inline T read_relaxed(const T* word) {
  return static_cast<T>(portable::load_relaxed(reinterpret_cast<const BitsOf<sizeof(T)>*>(word)));
}

/// An acquire costs the whole SM what it has cached. A long wait therefore looks relaxed, and again with an acquire
/// when the word looks right.
template <class T>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus wait_long(const WorldView& world, const T* word, int cmp,
                                                                  T value, T* seen) {
  Waiter waiter(error_of(world), Deadline{world.timeout_ns});
  for (;;) {
    if (compare(read_relaxed(word), cmp, value)) {
      *seen = read_acquire(word);
      if (compare(*seen, cmp, value)) return ChannelStatus::ok;
    }
    const ChannelStatus status = waiter.turn();
    if (status != ChannelStatus::ok) return status;
  }
}

/// Leaves in `*seen` the value that ended the wait. A wait that ends soon takes no call.
template <class T>
RAILSHMEM_HD inline ChannelStatus wait_until(const WorldView& world, const T* word, int cmp, T value, T* seen) {
  RAILSHMEM_NO_UNROLL
  for (int turn = 0; turn < kShortTurns; ++turn) {
    *seen = read_acquire(word);
    if (compare(*seen, cmp, value)) return ChannelStatus::ok;
  }
  T last = *seen;  // here and not before: a variable whose address a call gets lives in memory
  const ChannelStatus status = wait_long(world, word, cmp, value, &last);
  *seen = last;
  return status;
}

/// Several words, each compared with `values[0]` or, where `step` is 1, with a value of its own; words with a status
/// other than 0 are left out.
template <class T>
struct Words {
  const T* words;
  size_t n;
  const int* status;
  int cmp;
  const T* values;
  size_t step;

  RAILSHMEM_HD bool counts(size_t i) const { return status == nullptr || status[i] == 0; }
  RAILSHMEM_HD bool holds(size_t i) const { return compare(read_acquire(words + i), cmp, values[i * step]); }
  RAILSHMEM_HD bool none_counts() const {
    for (size_t i = 0; i < n; ++i) {
      if (counts(i)) return false;
    }
    return true;
  }
};

inline constexpr size_t kNoWord = ~size_t{0};

template <class T>
RAILSHMEM_HD inline bool test_all(const Words<T>& w) {
  for (size_t i = 0; i < w.n; ++i) {
    if (w.counts(i) && !w.holds(i)) return false;
  }
  return true;
}

/// Begins at `start`. A caller that varies `start` keeps a word that stays satisfied from hiding another one.
template <class T>
RAILSHMEM_HD inline size_t test_any(const Words<T>& w, size_t start) {
  for (size_t k = 0; k < w.n; ++k) {
    const size_t i = (start + k) % w.n;
    if (w.counts(i) && w.holds(i)) return i;
  }
  return kNoWord;
}

template <class T>
RAILSHMEM_HD inline size_t test_some(const Words<T>& w, size_t* indices) {
  size_t found = 0;
  for (size_t i = 0; i < w.n; ++i) {
    if (w.counts(i) && w.holds(i)) indices[found++] = i;
  }
  return found;
}

template <class T>
RAILSHMEM_HD inline ChannelStatus wait_until_all(const WorldView& world, const Words<T>& w) {
  Waiter waiter(error_of(world), Deadline{world.timeout_ns});
  for (size_t i = 0; i < w.n;) {
    if (!w.counts(i) || w.holds(i)) {
      ++i;
      continue;
    }
    const ChannelStatus status = waiter.turn();
    if (status != ChannelStatus::ok) return status;
  }
  return ChannelStatus::ok;
}

template <class T>
RAILSHMEM_HD inline ChannelStatus wait_until_any(const WorldView& world, const Words<T>& w, size_t start,
                                                 size_t* found) {
  *found = kNoWord;
  if (w.none_counts()) return ChannelStatus::ok;
  Waiter waiter(error_of(world), Deadline{world.timeout_ns});
  for (;;) {
    *found = test_any(w, start);
    if (*found != kNoWord) return ChannelStatus::ok;
    const ChannelStatus status = waiter.turn();
    if (status != ChannelStatus::ok) return status;
  }
}

template <class T>
RAILSHMEM_HD inline ChannelStatus wait_until_some(const WorldView& world, const Words<T>& w, size_t* indices,
                                                  size_t* found) {
  *found = 0;
  if (w.none_counts()) return ChannelStatus::ok;
  Waiter waiter(error_of(world), Deadline{world.timeout_ns});
  for (;;) {
    *found = test_some(w, indices);
    if (*found != 0) return ChannelStatus::ok;
    const ChannelStatus status = waiter.turn();
    if (status != ChannelStatus::ok) return status;
  }
}

}  // namespace device
}  // namespace railshmem

#endif
