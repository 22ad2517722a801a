// SPDX-License-Identifier: BSD-3-Clause
// There and back between the PEs of a pair.
#pragma once

#include "perftest/harness/measure.h"

namespace railshmem::perf {

/// The origin sends and waits, the target waits and answers; the result is the time of both ways. `count` is the value
/// of the flag; each send stores a larger one, so that no reset can race with it. Collective.
template <class Send, class Wait>
std::vector<Distribution> pingpong(Context& context, uint64_t& count, Send&& send, Wait&& wait) {
  const bool origin = context.is_origin();
  return measure(context, origin || context.is_target(), origin, [&, origin] {
    ++count;
    if (origin) send(count);
    wait(count);
    if (!origin) send(count);
  });
}

}  // namespace railshmem::perf
