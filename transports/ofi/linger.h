// SPDX-License-Identifier: BSD-3-Clause
// TCP sockets of a rail that is given up: what they have not sent must never arrive.
#pragma once

#include <cstddef>
#include <span>

namespace railshmem::ofi {

/// Makes closing a rail's sockets discard what they hold instead of sending it later, when the link is back. They are
/// this process's TCP sockets that were accepted at `own` or are connected to one of `peers`; other sockets, also those
/// of the same interface, stay as they are. Addresses are those of a TCP-based provider (sockaddr_in or sockaddr_in6);
/// with others nothing is done. Returns how many sockets were found.
size_t discard_unsent(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers);

}  // namespace railshmem::ofi
