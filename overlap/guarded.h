// SPDX-License-Identifier: BSD-3-Clause
// The C border of libraries over the public API.
#pragma once

#include <shmem.h>

#include "src/base/guard.h"

namespace railshmem::overlap {

/// As guard(); messages name this PE, which is one of a job.
template <class Body>
int guarded(const char* function, Body&& body) noexcept {
  return guard(function, [&] {
    set_log_pe(shmem_my_pe());
    body();
  });
}

}  // namespace railshmem::overlap
