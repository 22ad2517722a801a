// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/mail.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/host_socket.h"
#include "src/base/limit.h"

namespace railshmem {
namespace {

constexpr uint64_t kLookNs = 20'000'000;  // between two looks whether the addressee lives; a look costs microseconds
constexpr uint64_t kDeathNs =
    3'000'000'000;  // until a process whose socket has closed is known to be dead, on a busy machine
constexpr uint64_t kDeliveryNs = 1'000'000'000;

UniqueFd open_socket(const MailAddress& to) noexcept {
  if (to.socket[0] == '\0') {
    errno = ENOTCONN;
    return {};
  }
  return UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// False, with EAGAIN: too many others wait for the addressee.
bool deliver(int socket, const MailAddress& to, std::span<const std::byte> message) {
  const AbstractAddress server(to.socket);
  if (connect(socket, server.get(), server.nbytes()) != 0 && errno != EISCONN) return false;
  if (!is_trusted(socket)) {  // a process of any user may have taken the name
    errno = EPERM;
    return false;
  }
  Mail whole(sizeof to.key + message.size());
  std::memcpy(whole.data(), to.key.data(), sizeof to.key);
  std::copy(message.begin(), message.end(), whole.begin() + sizeof to.key);
  return send(socket, whole.data(), whole.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(whole.size());
}

/// One wait for an answer.
class Wait {
 public:
  explicit Wait(const Addressee& to) : to_(to), began_ns_(now_ns()), next_look_ns_(began_ns_ + kLookNs) {}

  /// Throws Error when the addressee has died or its time is over.
  void look() {
    const uint64_t now = now_ns();
    if (now < next_look_ns_) return;
    next_look_ns_ = now + kLookNs;
    throw_if_dead();
    if (to_.patience_ns != kNoLimitNs && now - began_ns_ >= to_.patience_ns)
      throw Error(
          text("%s has not answered within %.1f s; it is stopped or hangs (a larger "
               "SHMEM_TIMEOUT waits longer)",
               to_.name.c_str(), static_cast<double>(to_.patience_ns) * 1e-9));
  }
  /// The socket says that nobody is there. Who died is known a little later.
  [[noreturn]] void give_up(const char* step) {
    const int why = errno;
    for (const uint64_t end = now_ns() + kDeathNs; to_.death && now_ns() < end;) {
      throw_if_dead();
      nap();
    }
    throw Error(text("%s cannot be asked (%s: %s); it is ending, or has no socket for its peers", to_.name.c_str(),
                     step, why == 0 ? "the connection was closed" : std::strerror(why)));
  }
  static void nap() noexcept {
    const timespec ms{0, 1'000'000};
    nanosleep(&ms, nullptr);
  }

 private:
  void throw_if_dead() const {
    if (!to_.death) return;
    if (const auto death = to_.death())
      throw Error(text("%s, so it does not answer; see that PE's own output", death->c_str()));
  }

  const Addressee& to_;
  const uint64_t began_ns_;
  uint64_t next_look_ns_;
};

}  // namespace

Mail ask(const Addressee& to, std::span<const std::byte> message) {
  Wait wait(to);
  const UniqueFd socket = open_socket(to.address);
  if (!socket) wait.give_up("socket");
  while (!deliver(socket.get(), to.address, message)) {
    if (errno != EAGAIN && errno != EINTR) wait.give_up("connect");
    Wait::nap();
    wait.look();
  }
  Mail answer(kLongestMail);
  for (;;) {
    pollfd ready{socket.get(), POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(kLookNs / 1'000'000)) > 0) {
      const ssize_t got = recv(socket.get(), answer.data(), answer.size(), 0);
      if (got == 0) errno = 0;
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) wait.give_up("receive");
      if (got > 0) {
        answer.resize(static_cast<size_t>(got));
        return answer;
      }
    }
    wait.look();
  }
}

bool notify(const MailAddress& to, std::span<const std::byte> message) noexcept {
  try {
    const UniqueFd socket = open_socket(to);
    for (const uint64_t end = now_ns() + kDeliveryNs; socket && now_ns() < end; Wait::nap()) {
      if (deliver(socket.get(), to, message)) return true;
      if (errno != EAGAIN && errno != EINTR) return false;
    }
  } catch (const std::exception&) {  // no memory
  }
  return false;
}

}  // namespace railshmem
