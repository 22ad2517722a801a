// SPDX-License-Identifier: BSD-3-Clause
// Who moves so many bytes of a put_signal fastest (decision 0044). Copy engines need a kernel behind them that tells
// the other PE, and going from one to the other takes longer than a kernel copies.
#pragma once

#include <cstddef>

#include "src/cuda/kernels/stream_call.h"

namespace railshmem {

inline constexpr size_t kByBlock = size_t{64} << 10;
/// The most that a kernel moves; more is for copy engines.
inline constexpr size_t kByCluster = size_t{8} << 20;
inline cuda::StreamWidth width_of(size_t nbytes) noexcept {
  return nbytes <= kByBlock ? cuda::StreamWidth::block : cuda::StreamWidth::cluster;
}

}  // namespace railshmem
