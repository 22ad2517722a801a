// SPDX-License-Identifier: BSD-3-Clause
// The TCP sockets of a rail, which libfabric keeps to itself: what becomes of them when the rail or a path of it dies.
// Addresses are those of a TCP-based provider (sockaddr_in or sockaddr_in6); with others nothing is done.
#pragma once

#include <cstddef>
#include <span>

namespace railshmem::ofi {

/// Makes closing a rail's sockets discard what they hold instead of sending it later, when the link is back. They are
/// this process's TCP sockets that were accepted at `own` or are connected to one of `peers`; other sockets, also those
/// of the same interface, stay as they are. Returns how many sockets were found.
size_t discard_unsent(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers);

/// Ends the rail's connections to `peers` and discards what they have not sent. A provider that has kept back something
/// it received hands it on now, and not when the connection would have ended by itself, over what was written since.
/// Returns how many were found.
size_t cut(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers);

/// Lets the rail's connections to `peers` fail when the other end is silent for `timeout_ms`: it does not acknowledge
/// what was sent, or the question to connect, or, if nothing is sent, whether it is there. Else the kernel repeats
/// after 1, 2, 4... seconds, and finds out that a link is back as late again as it was away; and an end that never
/// finds out refuses to be connected anew (ofi_rxm). Sockets do not tell everything: of connections that were accepted
/// at `own` those from the peers' interfaces are meant, of those that are being made all that leave by the interface of
/// `own`. What has been idle asks at once. 0 takes the limit back. Returns how many were found.
size_t limit_silence(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers,
                     unsigned timeout_ms);

}  // namespace railshmem::ofi
