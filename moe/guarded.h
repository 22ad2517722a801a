// SPDX-License-Identifier: BSD-3-Clause
// Exceptions end at the C border.
#pragma once

#include <shmem.h>

#include <exception>

#include "src/base/log.h"

namespace railshmem::moe {

/// 0, or 1 after a message.
template <class Body>
int guarded(const char* function, Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (const std::exception& e) {
    log_error("%s: %s", function, e.what());
    return 1;
  }
}

/// Messages name this PE, which is one of a job.
template <class Body>
int guarded_in_job(const char* function, Body&& body) noexcept {
  return guarded(function, [&] {
    set_log_pe(shmem_my_pe());
    body();
  });
}

}  // namespace railshmem::moe
