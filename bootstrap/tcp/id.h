// SPDX-License-Identifier: BSD-3-Clause
// A unique id as bytes: where PE 0 listens, and the key of the job.
#pragma once

#include <span>
#include <vector>

#include "bootstrap/tcp/address.h"
#include "bootstrap/tcp/protocol.h"

namespace railshmem::tcp {

inline constexpr size_t kIdSize = 128;

/// What the key of an id is. The process that makes the id decides, so a stranger cannot turn proofs off.
enum class KeyUse : uint8_t {
  shown,   ///< sent as it is, where there is no library for anything better
  proven,  ///< a secret that never travels
};

struct Id {
  KeyUse use;
  Key key;
  std::vector<Address> addresses;  ///< of one port
};

/// How many addresses an id holds at most.
size_t most_addresses_of_id() noexcept;
/// At most kIdSize bytes; the rest of an id is zero.
Bytes pack_id(const Id& id);
/// Throws Error where these are not the bytes of an id of this version.
Id unpack_id(std::span<const std::byte, kIdSize> bytes);

}  // namespace railshmem::tcp
