// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/random.h>

#include <array>
#include <cstdint>

#include "src/base/error.h"

namespace railshmem::tcp {

/// An array of bytes that nobody can guess.
template <class Array>
Array random_bytes() {
  Array bytes;
  check_errno(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()), "getrandom");
  return bytes;
}

}  // namespace railshmem::tcp
