// SPDX-License-Identifier: BSD-3-Clause
// Put with signal and signal updates (OpenSHMEM 1.6 section 9.8): the signal is never visible before its own data.
#pragma once

#include "src/rma/atomic.h"
#include "src/rma/put_get.h"

namespace railshmem {

[[noreturn, gnu::cold]] void die_bad_signal_op(const char* function, int op, int pe) noexcept;
SignalOp checked_signal_op(const char* function, int op, int pe) noexcept;

/// What a put-with-signal knows besides the data.
struct SignalTarget {
  uint64_t* address;
  uint64_t value;
  SignalOp op;
};

/// A word of `pe`, mapped here at `at`.
[[gnu::always_inline]] inline void update_signal(PeState& state, Context& context, std::byte* at,
                                                 const SignalTarget& signal, int pe) noexcept {
  if (state.device && state.device->is_device(at)) [[unlikely]] {
    if (signal.op == SignalOp::set) return state.device->copy(at, &signal.value, sizeof(uint64_t));
    amo_on_device(state, context, at, signal.address, pe, {AmoOp::add, sizeof(uint64_t), signal.value, 0});
    return;
  }
  execute_signal(reinterpret_cast<uint64_t*>(at), signal.op, signal.value);
}

template <bool Nbi>
[[gnu::always_inline]] inline void put_signal(PeState& state, Context& context, const char* function, void* dest,
                                              const void* source, size_t nbytes, const SignalTarget& signal,
                                              int pe) noexcept {
  const PeerAddress flag = reach(state, function, signal.address, sizeof(uint64_t), pe);
  if (reinterpret_cast<uintptr_t>(signal.address) % sizeof(uint64_t) != 0) [[unlikely]]
    die_misaligned(function, signal.address, sizeof(uint64_t), pe);
  PeerAddress data{flag.mapped, flag.remote};
  if (nbytes) [[likely]] {
    data = reach(state, function, dest, nbytes, pe);
    check_local(function, "source", source, nbytes, pe);
  }
  if (flag.mapped && data.mapped) [[likely]] {
    if (nbytes) store_block(state.device, data.mapped, source, nbytes);
    return update_signal(state, context, flag.mapped, signal, pe);
  }
  if (flag.mapped) {  // the data's segment is not mapped but the signal's is: complete the one, then set the other
    net_issue(*state.network, put_op(*context.net, data.remote, source, nbytes, Local::awaited));
    net_quiet(*state.network, *context.net);
    return update_signal(state, context, flag.mapped, signal, pe);
  }
  check_promise(state, context, function, signal.op == SignalOp::add ? AmoOp::add : AmoOp::set, signal.address, pe);
  if (data.mapped) {
    if (nbytes) store_block(state.device, data.mapped, source, nbytes);
    nbytes = 0;  // a message follows; the target's proxy sees our stores before it executes it
    data.remote = flag.remote;
  }
  const NetSignal net{flag.remote.segment, flag.remote.offset, signal.value, signal.op};
  net_issue(*state.network,
            put_signal_op(*context.net, data.remote, source, nbytes, net, Nbi ? Local::lent : Local::awaited));
}

/// A signal update alone (shmem_signal_add, shmem_signal_set).
[[gnu::always_inline]] inline void signal_only(PeState& state, Context& context, const char* function,
                                               const SignalTarget& signal, int pe) noexcept {
  put_signal<false>(state, context, function, nullptr, nullptr, 0, signal, pe);
}

}  // namespace railshmem
