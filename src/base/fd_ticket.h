// SPDX-License-Identifier: BSD-3-Clause
// How one process of a host gets a file descriptor of another: the very one, not its file opened anew, because a GPU's
// memory has no file that could be opened. See FdOffers for the other side.
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
  uint64_t started = 0;           ///< of the process, by the kernel's clock: another one of this pid is told apart
  std::array<char, 40> socket{};  ///< abstract name without its leading zero; empty: there is none
  std::array<uint64_t, 2> key{};  ///< what the socket answers to
};
static_assert(std::is_trivially_copyable_v<FdTicket> && sizeof(FdTicket) == 88);

/// pidfd: the kernel copies it, where this process may trace the other. socket: the other one sends it, which its
/// FdOffers does without being asked twice; both must be of one user and one network namespace.
enum class FdWay : uint8_t { any, pidfd, socket };

/// A descriptor of this process for the same open file; close-on-exec. Throws Error naming the process, why each way
/// failed, and the remedy. Waits at most 10 s.
UniqueFd take_fd(const FdTicket& ticket, FdWay way = FdWay::any);

/// pid_namespace and started, of this process.
void sign_ticket(FdTicket& ticket);

}  // namespace railshmem
