// SPDX-License-Identifier: BSD-3-Clause
// What the kernels of the copy floors are told.
#pragma once

#include <cstdint>

namespace railshmem::perf::gpu {

struct Copy {
  char* dest;
  const char* source;
  uint64_t nbytes;  ///< a multiple of 16
  uint32_t* arrived;
  uint64_t limit_ns;
  uint32_t* failed;
};

}  // namespace railshmem::perf::gpu
