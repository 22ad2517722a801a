// SPDX-License-Identifier: BSD-3-Clause
// Listening sockets whose names only those know who were told.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "src/base/unique.h"

namespace railshmem {

/// 128 random bits. Throws Error.
std::array<uint64_t, 2> unguessable();

/// A socket of message boundaries (SOCK_SEQPACKET) that does not block, at an abstract address.
struct PrivateSocket {
  UniqueFd listener;  ///< none where the system allows no such socket
  std::string name;   ///< at most 39 characters; for AbstractAddress
};

/// Throws Error only where there are no random numbers. Where there is no socket it logs why, for debugging.
PrivateSocket listen_privately();

}  // namespace railshmem
