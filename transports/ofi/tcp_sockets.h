// SPDX-License-Identifier: BSD-3-Clause
// Treats the TCP sockets of a rail, which libfabric keeps to itself, when the rail or a path of it dies. Addresses are
// those of a TCP-based provider (sockaddr_in or sockaddr_in6); for other addresses nothing is done.
#pragma once

#include <cstddef>
#include <span>

namespace railshmem::ofi {

/// Makes a later close of a rail's sockets discard unsent data, which the kernel would otherwise send when the link is
/// back. A rail's sockets are this process's TCP sockets that were accepted at `own` or are connected to one of
/// `peers`. Other sockets, also of the rail's interface, stay as they are. Returns how many sockets were found.
size_t discard_unsent(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers);

/// Ends the rail's connections to `peers` and discards their unsent data. A provider that has kept back received data
/// hands it on now. Otherwise it would do so when the connection ends by itself, and overwrite newer data. Returns how
/// many connections were found.
size_t cut(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers);

/// Lets the rail's connections to `peers` fail when the other end is silent for `timeout_ms`: when it acknowledges
/// neither data, nor the request to connect, nor, on an idle connection, a probe. Without the limit the kernel repeats
/// after 1, 2, 4... seconds. It would notice a link that is back only after another pause as long as the outage. And an
/// end that never notices refuses a new connection (ofi_rxm). Sockets do not tell all addresses. So the limit covers
/// connections accepted at `own` that come from the peers' interfaces, and all unfinished connections that leave by the
/// interface of `own`. An idle connection sends a probe at once. 0 takes the limit back. Returns how many connections
/// were found.
size_t limit_silence(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers,
                     unsigned timeout_ms);

}  // namespace railshmem::ofi
