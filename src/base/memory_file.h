// SPDX-License-Identifier: BSD-3-Clause
// Anonymous memory that processes of one host map together: a memfd, which a peer opens through /proc/<pid>/fd/<n>.
// Memory that has no file to open, that of GPUs, is passed on instead: src/base/fd_ticket.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "src/base/unique.h"

namespace railshmem {

/// A file of `nbytes` of zeros that no page backs yet; `flags` are MFD_* beyond MFD_CLOEXEC, the name shows in /proc.
/// Empty, with errno, when it cannot be had.
UniqueFd create_memory_file(const char* name, size_t nbytes, unsigned flags = 0) noexcept;

/// What a PE tells its peers about an fd that they may open. Plain bytes for an allgather.
struct PeerFd {
  int64_t pid = -1;
  int64_t fd = -1;
  uint64_t device = 0;  ///< with the inode: proves that the peer found this file, not one of another process
  uint64_t inode = 0;
  uint64_t host = 0;  ///< see kernel_id()
};
static_assert(std::is_trivially_copyable_v<PeerFd> && sizeof(PeerFd) == 40);

/// Describes an fd of this process. Throws Error when it is not open.
PeerFd describe_fd(int fd);

/// Opens the peer's file read-write. Throws Error naming the process and the remedy.
UniqueFd open_peer_fd(const PeerFd& peer);

/// Whether open_peer_fd() would succeed: false means that the peer's memory is not reachable by load and store.
/// `why`, if given, receives the reason.
bool can_open_peer(const PeerFd& peer, std::string* why = nullptr);

}  // namespace railshmem
