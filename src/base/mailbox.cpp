// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/mailbox.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "src/base/error.h"
#include "src/base/host_socket.h"
#include "src/base/log.h"
#include "src/base/thread.h"

namespace railshmem {
namespace {

void raise_event(const UniqueFd& event) noexcept {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event.get(), &one, sizeof one);  // it fails only when it is up already
}

}  // namespace

Mailbox::Mailbox(MailWork work, const char* name) : work_(std::move(work)) {
  wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  check_errno(wake_ && stop_, "eventfd");
  PrivateSocket socket = listen_privately();
  if (socket.listener) {
    listener_ = std::move(socket.listener);
    socket.name.copy(address_.socket.data(), address_.socket.size() - 1);
    address_.key = unguessable();
  }
  thread_ = start_thread({name, "the thread of the mailbox"}, log_pe(), [this] { serve(); });
}

Mailbox::~Mailbox() {
  raise_event(stop_);
  thread_.join();
}

void Mailbox::wake() noexcept {
  raise_event(wake_);
}

void Mailbox::serve() noexcept {
  bool begun = !work_.begin;
  for (;;) {
    std::array<pollfd, 3> waits{{{stop_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}}};
    if (poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) continue;
      die("the thread that answers PEs of this host cannot poll: %s", std::strerror(errno));
    }
    if (waits[0].revents != 0) return;
    try {
      if (!begun && (waits[1].revents | waits[2].revents) != 0) {
        work_.begin();
        begun = true;
      }
      uint64_t wakes = 0;
      if (waits[1].revents != 0 && read(wake_.get(), &wakes, sizeof wakes) == sizeof wakes && work_.woken)
        work_.woken();
      if ((waits[2].revents & POLLIN) == 0) continue;
      if (const UniqueFd client = accept_trusted(listener_.get(), stop_.get())) serve_client(client.get());
    } catch (const std::exception& error) {
      log_error("a message of a peer on this host: %s", error.what());
    }
  }
}

void Mailbox::serve_client(int client) {
  Mail message(sizeof address_.key + kLongestMail);
  const ssize_t got = recv(client, message.data(), message.size(), 0);
  if (got < static_cast<ssize_t>(sizeof address_.key)) return;
  if (std::memcmp(message.data(), address_.key.data(), sizeof address_.key) != 0) return;
  const Mail answer = work_.answer(std::span(message).first(static_cast<size_t>(got)).subspan(sizeof address_.key));
  if (answer.empty()) return;
  if (send(client, answer.data(), answer.size(), MSG_NOSIGNAL) < 0)
    log_debug("a peer on this host did not wait for its answer: %s", std::strerror(errno));
}

}  // namespace railshmem
