// SPDX-License-Identifier: BSD-3-Clause
// How a stream has the host run a call without a kernel.
#pragma once

#include <array>

#include "src/cuda/kernels/stream_call.h"
#include "src/cuda/types.h"

namespace railshmem::cuda {

/// The operations of the stream, for cuStreamBatchMemOp: ask for call `number`, wait until it has run, and be ready for
/// the next one. A graph may replay them. `words` is an address of kernels.
inline std::array<StreamWordOp, 3> ask_host_ops(const CallWords* words, uint32_t number) noexcept {
  const Address due = address_of(&words->due), done = address_of(&words->done);
  return {{{.op = WordOp::write_32, .address = due, .value = number},
           {.op = WordOp::wait_32, .address = done, .value = number, .flags = kWordEquals},
           {.op = WordOp::write_32, .address = done, .value = 0}}};
}

}  // namespace railshmem::cuda
