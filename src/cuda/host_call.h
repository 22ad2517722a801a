// SPDX-License-Identifier: BSD-3-Clause
// How a stream has the host run a call without a kernel.
#pragma once

#include <array>

#include "src/cuda/kernels/stream_call.h"
#include "src/cuda/types.h"

namespace railshmem::cuda {

/// The operations of the stream, for cuStreamBatchMemOp: ask for call `number`, and wait until it has run. A graph may
/// replay them. `word` is an address of kernels.
inline std::array<StreamWordOp, 2> ask_host_ops(const CallWord* word, uint32_t number) noexcept {
  return {{{.op = WordOp::write_32, .address = address_of(word), .value = number},
           {.op = WordOp::wait_32, .address = address_of(word), .value = 0, .flags = kWordEquals}}};
}

}  // namespace railshmem::cuda
