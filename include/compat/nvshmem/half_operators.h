// SPDX-License-Identifier: BSD-3-Clause
//
// Arithmetic of 16-bit types by CUDA's functions: its operators are not there where programs define
// __CUDA_NO_HALF_OPERATORS__ and the like, as extensions of PyTorch do.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_HALF_OPERATORS_H
#define RAILSHMEM_COMPAT_NVSHMEM_HALF_OPERATORS_H

#include "nvshmem/define.h"

#if defined(__CUDACC__) && defined(RAILSHMEM_KERNEL_NAMES)

namespace railshmem {
namespace compat {

struct Max {
  template <class T>
  __device__ static T of(T a, T b) {
    return __hgt(a, b) ? a : b;
  }
};
struct Min {
  template <class T>
  __device__ static T of(T a, T b) {
    return __hlt(a, b) ? a : b;
  }
};
struct Sum {
  template <class T>
  __device__ static T of(T a, T b) {
    return __hadd(a, b);
  }
};
struct Product {
  template <class T>
  __device__ static T of(T a, T b) {
    return __hmul(a, b);
  }
};

}  // namespace compat
}  // namespace railshmem

#endif

#endif
