// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/host_transfer.h"

#include "src/rma/signal.h"

namespace railshmem {

bool is_host_transfer(const cuda::StreamCall& call) noexcept {
  using cuda::StreamStep;
  return call.step == StreamStep::put || call.step == StreamStep::get || call.step == StreamStep::put_signal;
}

void begin(PeState& state, Context& context, const HostTransfer& transfer) noexcept {
  const cuda::StreamCall& call = transfer.call;
  const char* const function = transfer.function;
  if (call.step == cuda::StreamStep::get)
    return get_nbi(state, context, function, call.dest, call.source, call.nbytes, call.pe);
  if (call.step == cuda::StreamStep::put)
    return put_nbi(state, context, function, call.dest, call.source, call.nbytes, call.pe);
  const SignalTarget signal{call.word, call.value, checked_signal_op(function, call.code, call.pe)};
  put_signal<true>(state, context, function, call.dest, call.source, call.nbytes, signal, call.pe);
}

}  // namespace railshmem
