// SPDX-License-Identifier: BSD-3-Clause
// How one process of a host gets a file descriptor of another process. The descriptor is passed on, not its file opened
// anew, because a GPU's memory has no file that could be opened. FdOffers is the side that gives.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "src/base/unique.h"

namespace railshmem {

/// What a process tells its peers about an fd that they may take. Plain bytes for an allgather.
struct FdTicket {
  int64_t pid = -1;
  int64_t fd = -1;
  uint64_t pid_namespace = 0;
  uint64_t started = 0;  ///< start of the process by the kernel's clock: tells it from an earlier one with this pid
  std::array<char, 40> socket{};  ///< abstract name without its leading zero; empty: no socket
  std::array<uint64_t, 2> key{};  ///< proves to the socket that the asker has this ticket
};
static_assert(std::is_trivially_copyable_v<FdTicket> && sizeof(FdTicket) == 88);

/// pidfd: the kernel copies the descriptor; this process must be allowed to trace the owner. socket: the FdOffers of
/// the owner sends the descriptor; both processes must be of one user and one network namespace.
enum class FdWay : uint8_t { any, pidfd, socket };

/// Returns a descriptor of this process for the open file of the ticket; close-on-exec. Throws Error naming the
/// process, why each way failed, and the remedy. Waits at most 10 s.
UniqueFd take_fd(const FdTicket& ticket, FdWay way = FdWay::any);

/// Fills in pid_namespace and started of this process.
void sign_ticket(FdTicket& ticket);

}  // namespace railshmem
