// SPDX-License-Identifier: BSD-3-Clause
// Atomic memory operations and signal updates as plain values, shared by host, proxy and device code.
#ifndef SHMEM_DETAIL_AMO_H
#define SHMEM_DETAIL_AMO_H

#include <stdint.h>

namespace railshmem {

/// Signedness never matters: add wraps, comparison is for equality, and float and double are only moved as bits.
enum class AmoOp : uint8_t {
  fetch,
  set,
  swap,
  compare_swap,
  add,
  fetch_add,
  bit_and,
  fetch_and,
  bit_or,
  fetch_or,
  bit_xor,
  fetch_xor,
};

#if !defined(__CUDACC_RTC__)
constexpr bool amo_fetches(AmoOp op) {
  return op == AmoOp::fetch || op == AmoOp::swap || op == AmoOp::compare_swap || op == AmoOp::fetch_add ||
         op == AmoOp::fetch_and || op == AmoOp::fetch_or || op == AmoOp::fetch_xor;
}
#endif

enum class SignalOp : uint8_t { set, add };

}  // namespace railshmem

#endif
