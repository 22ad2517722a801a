// SPDX-License-Identifier: BSD-3-Clause
// Dispatch and combine of few tokens for teams on several nodes.
#pragma once

#include "moe/kernels/combine.h"
#include "moe/kernels/dispatch.h"
#include "moe/kernels/few_far_part.h"

namespace railshmem::moe::kernels {

/// Place: FarFewPart or FarMaskingPart.
template <class Payload, class Place>
RAILSHMEM_KERNEL inline void run_far_dispatch(const FarFewCall<DispatchCall>& call, FarShared& shared) {
  Place part(call.near.members, DeviceCall::moe_dispatch, call.near.halves, Sharing::halves, call.places, shared);
  run_dispatch_as<Payload>(part, call.near, shared);
}

template <class T, bool kLate, class Place>
RAILSHMEM_KERNEL inline void run_far_combine(const FarFewCall<CombineCall>& call, FarShared& shared) {
  Place part(call.near.members, DeviceCall::moe_combine, call.near.halves, Sharing::none, call.places, shared);
  run_combine_as<T, kLate>(part, call.near, shared);
}

}  // namespace railshmem::moe::kernels
