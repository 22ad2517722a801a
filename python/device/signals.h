// SPDX-License-Identifier: BSD-3-Clause
// Signals: after the data of a put, alone, and the wait for one. A signal is a symmetric uint64_t.
#pragma once

#include "python/device/define.h"
#include "shmem/device/calls/signal.h"

/// putmem_signal by a thread and by a block; sig_op is SHMEM_SIGNAL_SET (0) or SHMEM_SIGNAL_ADD (1).
#define RAILSHMEM_PUT_SIGNAL(NAME, CALL)                                                                             \
  RAILSHMEM_EXPORT int railshmem_##NAME(int64_t dest, int64_t source, int64_t nbytes, int64_t signal, int64_t value, \
                                        int64_t sig_op, int64_t pe) {                                                \
    using namespace railshmem;                                                                                       \
    using Signaller = device::Signaller<1>;                                                                          \
    Signaller::CALL(SHMEM_CTX_DEFAULT, bitcode::at<void>(dest), bitcode::at<const void>(source),                     \
                    static_cast<size_t>(nbytes), bitcode::at<uint64_t>(signal), static_cast<uint64_t>(value),        \
                    bitcode::code_of(sig_op), bitcode::pe_of(pe));                                                   \
    return 0;                                                                                                        \
  }                                                                                                                  \
  RAILSHMEM_EXPORT int railshmem_##NAME##_block(int64_t dest, int64_t source, int64_t nbytes, int64_t signal,        \
                                                int64_t value, int64_t sig_op, int64_t pe) {                         \
    using namespace railshmem;                                                                                       \
    using Signaller = device::Signaller<1, device::BlockScope>;                                                      \
    return bitcode::all([=] {                                                                                        \
      Signaller::CALL(SHMEM_CTX_DEFAULT, bitcode::at<void>(dest), bitcode::at<const void>(source),                   \
                      static_cast<size_t>(nbytes), bitcode::at<uint64_t>(signal), static_cast<uint64_t>(value),      \
                      bitcode::code_of(sig_op), bitcode::pe_of(pe));                                                 \
    });                                                                                                              \
  }
RAILSHMEM_PUT_SIGNAL(putmem_signal, put_signal)
RAILSHMEM_PUT_SIGNAL(putmem_signal_nbi, put_signal_nbi)
#undef RAILSHMEM_PUT_SIGNAL

/// Sets the signal of `pe`, or adds to it. Alone it orders no data: call fence first, or put_signal instead.
RAILSHMEM_EXPORT int railshmem_signal_op(int64_t signal, int64_t value, int64_t sig_op, int64_t pe) {
  using namespace railshmem;
  auto* const word = bitcode::at<uint64_t>(signal);
  if (bitcode::code_of(sig_op) == SHMEM_SIGNAL_ADD) {
    device::add_signal(SHMEM_CTX_DEFAULT, word, static_cast<uint64_t>(value), bitcode::pe_of(pe));
  } else {
    device::set_signal(SHMEM_CTX_DEFAULT, word, static_cast<uint64_t>(value), bitcode::pe_of(pe));
  }
  return 0;
}
RAILSHMEM_EXPORT int railshmem_signal_op_block(int64_t signal, int64_t value, int64_t sig_op, int64_t pe) {
  return railshmem::bitcode::leader([=] { railshmem_signal_op(signal, value, sig_op, pe); });
}

/// Waits until this PE's signal compares true (SHMEM_CMP_EQ and its like); returns the value that ended the wait.
RAILSHMEM_EXPORT int64_t railshmem_signal_wait_until(int64_t signal, int64_t cmp, int64_t value) {
  using namespace railshmem;
  return static_cast<int64_t>(device::wait_for_signal(bitcode::at<const uint64_t>(signal), bitcode::code_of(cmp),
                                                      static_cast<uint64_t>(value)));
}
/// One thread waits for the block. Data that came before the signal is there for all its threads. Returns 0.
RAILSHMEM_EXPORT int railshmem_signal_wait_until_block(int64_t signal, int64_t cmp, int64_t value) {
  return railshmem::bitcode::leader_then_all([=] { railshmem_signal_wait_until(signal, cmp, value); });
}

/// The value of this PE's signal now.
RAILSHMEM_EXPORT int64_t railshmem_signal_fetch(int64_t signal) {
  return static_cast<int64_t>(railshmem::device::read_acquire(railshmem::bitcode::at<const uint64_t>(signal)));
}
