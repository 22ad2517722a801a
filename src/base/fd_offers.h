// SPDX-License-Identifier: BSD-3-Clause
// File descriptors that other processes of this host may take: see src/base/fd_ticket.h.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/fd_ticket.h"
#include "src/base/unique.h"

namespace railshmem {

class FdOffers;

/// A descriptor that peers may take as long as this lives. Move-only.
class FdOffer {
 public:
  FdOffer(FdOffer&& other) noexcept;
  FdOffer& operator=(FdOffer&& other) noexcept;
  ~FdOffer();
  const FdTicket& ticket() const noexcept { return ticket_; }

 private:
  friend class FdOffers;
  FdOffer(FdOffers& offers, UniqueFd fd, const FdTicket& ticket) noexcept
      : offers_(&offers), fd_(std::move(fd)), ticket_(ticket) {}

  FdOffers* offers_;
  UniqueFd fd_;
  FdTicket ticket_;
};

/// A sleeping thread answers at a socket of an unguessable name, for peers that may not trace this process. It exists
/// from the first offer on; where there can be no socket, tickets say so.
class FdOffers {
 public:
  FdOffers() = default;
  FdOffers(const FdOffers&) = delete;
  ~FdOffers();

  /// Throws Error when the descriptor is not open. This outlives the offer.
  FdOffer offer(UniqueFd fd);

 private:
  friend class FdOffer;
  struct Entry {
    std::array<uint64_t, 2> key;
    int fd;
  };
  void withdraw(const FdTicket& ticket) noexcept;
  void start();
  void serve() noexcept;
  void answer(int client) noexcept;

  std::mutex mutex_;
  std::vector<Entry> offers_;
  std::string name_;  ///< empty: no socket
  UniqueFd listener_;
  UniqueFd stop_;
  std::thread thread_;
};

}  // namespace railshmem
