// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/mailbox.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "src/base/error.h"
#include "src/base/fd_message.h"
#include "src/base/log.h"
#include "src/base/private_socket.h"

namespace railshmem {
namespace {

constexpr timeval kClientPatience{1, 0};  // who connects sends its message at once; the next one waits meanwhile

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
  const int pe = log_pe();
  thread_ = std::thread([this, pe] {
    set_log_pe(pe);
    serve();
  });
  pthread_setname_np(thread_.native_handle(), name);
}

Mailbox::~Mailbox() {
  raise_event(stop_);
  thread_.join();
}

void Mailbox::wake() noexcept {
  raise_event(wake_);
}

void Mailbox::serve() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);  // signals are the program's
  bool begun = !work_.begin;
  for (;;) {
    std::array<pollfd, 3> waits{{{stop_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}}};
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
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
      const UniqueFd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (connection) serve_client(connection.get());
    } catch (const std::exception& error) {
      log_error("a message of a peer on this host: %s", error.what());
    }
  }
}

void Mailbox::serve_client(int connection) {
  if (!is_trusted(connection)) return;
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kClientPatience, sizeof kClientPatience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kClientPatience, sizeof kClientPatience);
  Mail message(sizeof address_.key + kLongestMail);
  const ssize_t got = recv(connection, message.data(), message.size(), 0);
  if (got < static_cast<ssize_t>(sizeof address_.key)) return;
  if (std::memcmp(message.data(), address_.key.data(), sizeof address_.key) != 0) return;
  const Mail answer = work_.answer(std::span(message).first(static_cast<size_t>(got)).subspan(sizeof address_.key));
  if (answer.empty()) return;
  if (send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) < 0)
    log_debug("a peer on this host did not wait for its answer: %s", std::strerror(errno));
}

}  // namespace railshmem
