// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/probe.h"

#include "src/check/arguments.h"
#include "src/observe/observer.h"

namespace railshmem {
namespace {

using observe::Way;

/// Whether the PE's copy is mapped here; by the heap where the call names no symmetric address.
Way way_to(const PeState& state, int pe, const void* symmetric) noexcept {
  if (pe < 0) return Way::none;
  const SegmentView& data = state.segment[1];
  const bool is_data = reinterpret_cast<uintptr_t>(symmetric) - data.base < data.nbytes;
  const SegmentView& view = is_data ? data : state.segment[0];
  const int slot = state.slot(pe);
  return static_cast<unsigned>(slot - view.first_slot) < static_cast<unsigned>(view.slots) ? Way::node : Way::network;
}

}  // namespace

void begin_call(PeState& state, const Context* context, observe::Kind kind, const char* function, uint64_t nbytes,
                int pe, const void* symmetric, const void* local) noexcept {
  observe::Observer& observer = *state.observer;
  const int target = static_cast<unsigned>(pe) < static_cast<unsigned>(state.npes) ? pe : -1;
  if (observer.checking() && context) check::check_context(function, *context);
  if (observer.checking() && symmetric) check::check_transfer(state, function, symmetric, local, nbytes, target);
  if (!observer.recording()) return;
  observer.begin(kind, way_to(state, target, symmetric), function, nbytes, target);
}

void end_call(PeState& state) noexcept {
  if (state.observer->recording()) state.observer->end();
}

bool is_checking(const PeState& state) noexcept {
  return state.observer->checking();
}

}  // namespace railshmem
