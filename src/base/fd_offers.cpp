// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/fd_offers.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/error.h"
#include "src/base/host_socket.h"
#include "src/base/log.h"
#include "src/base/thread.h"

namespace railshmem {
FdOffer::FdOffer(FdOffer&& other) noexcept
    : offers_(other.offers_), fd_(std::move(other.fd_)), ticket_(other.ticket_) {}

FdOffer& FdOffer::operator=(FdOffer&& other) noexcept {
  std::swap(offers_, other.offers_);
  std::swap(fd_, other.fd_);
  std::swap(ticket_, other.ticket_);
  return *this;
}

FdOffer::~FdOffer() {
  if (fd_) offers_->withdraw(ticket_);
}

FdOffers::~FdOffers() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_.get(), &one, sizeof one);
  thread_.join();
}

FdOffer FdOffers::offer(UniqueFd fd) {
  check_errno(fcntl(fd.get(), F_GETFD) >= 0, "fcntl of an offered file descriptor");
  const std::lock_guard lock(mutex_);
  if (!stop_) start();
  FdTicket ticket;
  sign_ticket(ticket);
  ticket.fd = fd.get();
  ticket.key = unguessable();
  name_.copy(ticket.socket.data(), ticket.socket.size() - 1);
  offers_.push_back({ticket.key, fd.get()});
  return FdOffer(*this, std::move(fd), ticket);
}

void FdOffers::withdraw(const FdTicket& ticket) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(offers_, [&](const Entry& offer) { return offer.key == ticket.key; });
}

void FdOffers::start() {
  stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  check_errno(static_cast<bool>(stop_), "eventfd");
  PrivateSocket socket = listen_privately();
  if (!socket.listener) return;
  listener_ = std::move(socket.listener);
  thread_ =
      start_thread({"railshmem-fds", "the thread that offers descriptors to other PEs"}, log_pe(), [this] { serve(); });
  name_ = socket.name;
}

void FdOffers::serve() noexcept {
  for (;;) {
    std::array<pollfd, 2> waits{{{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    if (poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) continue;
      die("the thread that gives file descriptors to PEs of this host cannot poll: %s", std::strerror(errno));
    }
    if (waits[1].revents != 0) return;
    if ((waits[0].revents & POLLIN) == 0) continue;
    if (const UniqueFd client = accept_trusted(listener_.get(), stop_.get())) answer(client.get());
  }
}

/// Sends a descriptor to a client that knows its key. A client that does not gets nothing, and cannot tell why.
void FdOffers::answer(int client) noexcept {
  std::array<uint64_t, 2> key{};
  if (recv(client, key.data(), sizeof key, 0) != sizeof key) return;
  const std::lock_guard lock(mutex_);  // while it is sent: its owner may close it once it is withdrawn
  const auto found = std::find_if(offers_.begin(), offers_.end(), [&](const Entry& offer) { return offer.key == key; });
  if (found == offers_.end()) return;
  if (!send_fd(client, found->fd)) log_debug("a peer did not get a file descriptor: %s", std::strerror(errno));
}

}  // namespace railshmem
