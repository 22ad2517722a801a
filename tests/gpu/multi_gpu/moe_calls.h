// SPDX-License-Identifier: BSD-3-Clause
// Whole calls of dispatch and combine: of a handle by halves, both halves. Whoever is refused ends the job.
#pragma once

#include <shmem.h>
#include <shmemx_moe.h>

namespace railshmem::multi {

inline void must(int result) {
  if (result != 0) shmem_global_exit(2);
}

inline void give(const shmemx_moe_dispatch_t& dispatch, shmemx_stream_t stream) {
  must(shmemx_moe_dispatch_on_stream(&dispatch, stream));
  if (dispatch.hook != 0) must(shmemx_moe_complete_on_stream(dispatch.handle, stream));
}
inline void give(const shmemx_moe_combine_t& combine, shmemx_stream_t stream) {
  must(shmemx_moe_combine_on_stream(&combine, stream));
  if (combine.hook != 0) must(shmemx_moe_complete_on_stream(combine.handle, stream));
}

}  // namespace railshmem::multi
