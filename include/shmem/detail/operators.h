// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of reductions in kernels, element by element.
#ifndef SHMEM_DETAIL_OPERATORS_H
#define SHMEM_DETAIL_OPERATORS_H

#include <stdint.h>

#include <type_traits>

#include "shmem/detail/portable.h"

namespace railshmem {
namespace device {

struct And {
  template <class T>
  RAILSHMEM_HD static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  RAILSHMEM_HD static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  RAILSHMEM_HD static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Max {
  template <class T>
  RAILSHMEM_HD static T of(T a, T b) {
    return a > b ? a : b;
  }
};
struct Min {
  template <class T>
  RAILSHMEM_HD static T of(T a, T b) {
    return a < b ? a : b;
  }
};

/// The type in which integers wrap: overflow of signed integers is undefined, and narrow integers are promoted.
template <class T, bool kInteger = std::is_integral<T>::value>
struct Wrapping {
  using Type = T;
};
template <class T>
struct Wrapping<T, true> {
  using Type = typename std::conditional<sizeof(T) <= 4, uint32_t, uint64_t>::type;
};
struct Sum {
  template <class T>
  RAILSHMEM_HD static T of(T a, T b) {
    using W = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct Product {
  template <class T>
  RAILSHMEM_HD static T of(T a, T b) {
    using W = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};

}  // namespace device
}  // namespace railshmem

#endif
