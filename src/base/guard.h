// SPDX-License-Identifier: BSD-3-Clause
// The C border: exceptions end here.
#pragma once

#include <exception>

#include "src/base/log.h"
#include "src/base/system_limits.h"

namespace railshmem {

/// Turns an exception into a status after printing it: the C border.
template <class Body>
int guard(const char* function, Body body) noexcept {
  try {
    body();
    return 0;
  } catch (const std::exception& e) {
    log_error("%s: %s", function, explain(e).c_str());
    return 1;
  }
}

}  // namespace railshmem
