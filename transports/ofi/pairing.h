// SPDX-License-Identifier: BSD-3-Clause
// Which rail of a peer each rail of this PE talks to: a pure function that both sides compute alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace railshmem::ofi {

/// A rail that cannot reach the peer.
inline constexpr size_t kNoRail = SIZE_MAX;

/// The remote rail of each local one. `mine` and `theirs` name the network of every rail (network_of()).
///
/// Rails are paired within one network only. Where the two PEs share a network, a rail of a network that the peer is
/// not in gets kNoRail; where they share none, all networks count as one, because something may route between them.
/// With equal numbers of rails the pairing is symmetric: what came in on a rail is answered over the rail it came
/// from. With unequal numbers the PE with fewer rails gets its answers so, and each rail of the other has a partner.
/// Over many PEs `me`, or many `pe`, every rail of the other side is used alike.
std::vector<size_t> pair_rails(std::span<const std::string> mine, std::span<const std::string> theirs, int me, int pe);

}  // namespace railshmem::ofi
