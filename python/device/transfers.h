// SPDX-License-Identifier: BSD-3-Clause
// putmem and getmem, blocking and _nbi; p and g.
#pragma once

#include "python/device/define.h"
#include "shmem/device/calls/rma.h"

/// NAME by a thread, NAME_block by a block: CALL of Mover.
#define RAILSHMEM_TRANSFER(NAME, CALL)                                                                      \
  RAILSHMEM_EXPORT int railshmem_##NAME(int64_t dest, int64_t source, int64_t nbytes, int64_t pe) {         \
    using namespace railshmem;                                                                              \
    using Mover = device::Mover<1>;                                                                         \
    Mover::CALL(SHMEM_CTX_DEFAULT, bitcode::at<void>(dest), bitcode::at<const void>(source),                \
                static_cast<size_t>(nbytes), bitcode::pe_of(pe));                                           \
    return 0;                                                                                               \
  }                                                                                                         \
  RAILSHMEM_EXPORT int railshmem_##NAME##_block(int64_t dest, int64_t source, int64_t nbytes, int64_t pe) { \
    using namespace railshmem;                                                                              \
    using Mover = device::Mover<1, device::BlockScope>;                                                     \
    return bitcode::all([=] {                                                                               \
      Mover::CALL(SHMEM_CTX_DEFAULT, bitcode::at<void>(dest), bitcode::at<const void>(source),              \
                  static_cast<size_t>(nbytes), bitcode::pe_of(pe));                                         \
    });                                                                                                     \
  }
RAILSHMEM_TRANSFER(putmem, put)
RAILSHMEM_TRANSFER(putmem_nbi, put_nbi)
RAILSHMEM_TRANSFER(getmem, get)
RAILSHMEM_TRANSFER(getmem_nbi, get_nbi)
#undef RAILSHMEM_TRANSFER

/// One value: `p` stores it at a PE, `g` loads it from there. In p_block one thread of the block stores.
#define RAILSHMEM_VALUE(TYPE, T)                                                                   \
  RAILSHMEM_EXPORT int railshmem_##TYPE##_p(int64_t dest, T value, int64_t pe) {                   \
    using namespace railshmem;                                                                     \
    device::put_value(SHMEM_CTX_DEFAULT, bitcode::at<T>(dest), value, bitcode::pe_of(pe));         \
    return 0;                                                                                      \
  }                                                                                                \
  RAILSHMEM_EXPORT int railshmem_##TYPE##_p_block(int64_t dest, T value, int64_t pe) {             \
    return railshmem::bitcode::leader([=] { railshmem_##TYPE##_p(dest, value, pe); });             \
  }                                                                                                \
  RAILSHMEM_EXPORT T railshmem_##TYPE##_g(int64_t source, int64_t pe) {                            \
    using namespace railshmem;                                                                     \
    return device::get_value(SHMEM_CTX_DEFAULT, bitcode::at<const T>(source), bitcode::pe_of(pe)); \
  }
RAILSHMEM_VALUE(int32, int32_t)
RAILSHMEM_VALUE(int64, int64_t)
RAILSHMEM_VALUE(float, float)
RAILSHMEM_VALUE(double, double)
#undef RAILSHMEM_VALUE
