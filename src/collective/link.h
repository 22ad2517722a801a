// SPDX-License-Identifier: BSD-3-Clause
// How members of a team tell each other something inside a collective: flags that only grow, and data behind flags.
#pragma once

#include "src/rma/ordering.h"
#include "src/rma/signal.h"
#include "src/rma/waiter.h"
#include "src/team/team.h"

namespace railshmem {

/// acquire: pairs with the release of the peer's update; its stores before it are visible after.
inline bool reached(const std::byte* flag, uint64_t number) noexcept {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(flag), __ATOMIC_ACQUIRE) >= number;
}

/// What a PE that waits in a collective for the member `from` says in messages; -1: it waits for any member.
inline WaitFor member(const Team& team, const char* function, int from) noexcept {
  return {function, from < 0 ? -1 : team.pes.pe(from), true,
          [](const void* members) { return static_cast<const Team*>(members)->absent_here(); }, &team};
}

/// Waits until this PE's flag `at` bytes into the area has reached `number`; `from` is the rank that raises it.
inline void await(Team& team, const char* function, int from, size_t at, uint64_t number) noexcept {
  const std::byte* flag = team.mine(at);
  wait_for(team.state, member(team, function, from), [&] { return reached(flag, number); });
}

/// Raises a flag of member `to`, behind this PE's stores and, on the network, in no order with anything.
inline void raise(Team& team, int to, size_t at, uint64_t number) noexcept {
  // release: pairs with reached().
  if (std::byte* flag = team.at(to, at))
    return __atomic_store_n(reinterpret_cast<uint64_t*>(flag), number, __ATOMIC_RELEASE);
  net_flag(*team.state.network, {team.pes.pe(to), SegmentId::heap, team.offset + at}, number);
}

/// Copies to the symmetric address `dest` of member `to`, then sets the flag there, never before the data. `source`
/// stays untouched until settle(). nbytes may be 0.
inline void push(Team& team, const char* function, int to, void* dest, const void* source, size_t nbytes, size_t at,
                 uint64_t number) noexcept {
  put_signal<true>(team.state, team.context, function, dest, source, nbytes,
                   {reinterpret_cast<uint64_t*>(team.mine(at)), number, SignalOp::set}, team.pes.pe(to));
}

/// A push() whose source may be reused at once: for small operands on the network, which travel with their flag.
inline void push_copied(Team& team, const char* function, int to, void* dest, const void* source, size_t nbytes,
                        size_t at, uint64_t number) noexcept {
  put_signal<false>(team.state, team.context, function, dest, source, nbytes,
                    {reinterpret_cast<uint64_t*>(team.mine(at)), number, SignalOp::set}, team.pes.pe(to));
}

/// Returns when the sources of all pushes may be reused and their data is at its targets.
inline void settle(Team& team) noexcept {
  quiet(team.state, team.context);
}

}  // namespace railshmem
