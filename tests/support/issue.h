// SPDX-License-Identifier: BSD-3-Clause
// Operations for an initiator, as HostSide and ChannelDrain issue them.
#pragma once

#include "src/proxy/source/initiator.h"

namespace railshmem::test {

template <Rail R>
Post issue(Initiator<R>& initiator, const Op& op) {
  return initiator.issue(op);
}
/// A put of a batch, which may wait for the next one.
template <Rail R>
Post hold(Initiator<R>& initiator, Op op) {
  op.route = Route::held;
  return initiator.issue(op);
}

inline Op with(Op op, const Outcome& outcome) {
  op.outcome = outcome;
  return op;
}

}  // namespace railshmem::test
