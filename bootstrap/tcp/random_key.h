// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/random.h>

#include "bootstrap/tcp/protocol.h"
#include "src/base/error.h"

namespace railshmem::tcp {

inline Key random_key() {
  Key key;
  check_errno(getrandom(key.data(), key.size(), 0) == static_cast<ssize_t>(key.size()), "getrandom");
  return key;
}

}  // namespace railshmem::tcp
