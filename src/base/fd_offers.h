// SPDX-License-Identifier: BSD-3-Clause
// File descriptors that other processes of this host may take: see src/base/fd_ticket.h.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/base/fd_ticket.h"
#include "src/base/unique.h"

namespace railshmem {

/// A sleeping thread answers at a socket of an unguessable name, for peers that may not trace this process. It exists
/// from the first offer on; where there can be no socket, tickets say so.
class FdOffers {
 public:
  FdOffers() = default;
  FdOffers(const FdOffers&) = delete;
  ~FdOffers();

  /// The descriptor stays the caller's, and open until it is withdrawn. Throws Error when it is not open.
  FdTicket offer(int fd);
  /// Nobody takes it any more.
  void withdraw(const FdTicket& ticket) noexcept;

 private:
  struct Offer {
    std::array<uint64_t, 2> key;
    int fd;
  };
  void start();
  void serve() noexcept;
  void answer(int connection) noexcept;

  std::mutex mutex_;
  std::vector<Offer> offers_;
  std::string name_;  ///< empty: no socket
  UniqueFd listener_;
  UniqueFd stop_;
  std::thread thread_;
};

}  // namespace railshmem
