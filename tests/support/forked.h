// SPDX-License-Identifier: BSD-3-Clause
// A second process for a test: what it finds wrong comes back as a text.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>

namespace railshmem::test {

/// Exchanges plain values between the two processes. Returns false when the other process is gone, or silent for 20 s.
class Pipe {
 public:
  explicit Pipe(int socket) : socket_(socket) {}
  template <class T>
  bool tell(const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return send(socket_, &value, sizeof value, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof value);
  }
  template <class T>
  bool hear(T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    pollfd wait{socket_, POLLIN, 0};
    return poll(&wait, 1, 20'000) == 1 && recv(socket_, &value, sizeof value, 0) == static_cast<ssize_t>(sizeof value);
  }
  /// Both processes get here before either goes on.
  bool meet() const {
    char byte = 0;
    return tell(byte) && hear(byte);
  }

 private:
  int socket_;
};

/// Runs `body` in a child process, which then leaves without any cleanup. Make it before threads, and before a
/// FakeDriver: a process has its own.
class Forked {
 public:
  explicit Forked(const std::function<std::string(const Pipe&)>& body) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      close(sockets[0]);
      std::string wrong;
      try {
        wrong = body(Pipe(sockets[1]));
      } catch (const std::exception& e) {
        wrong = e.what();
      }
      wrong.insert(wrong.begin(), '!');  // apart from what the body told
      send(sockets[1], wrong.data(), wrong.size(), MSG_NOSIGNAL);
      _exit(0);
    }
    close(sockets[1]);
    socket_ = sockets[0];
  }
  ~Forked() { reap(true); }
  Forked(const Forked&) = delete;

  pid_t pid() const { return pid_; }
  Pipe pipe() const { return Pipe(socket_); }
  /// What the child found wrong; empty: nothing. Drops values that nobody received.
  std::string join(int patience_ms = 20'000) {
    std::string wrong(4096, '\0');
    for (;;) {
      pollfd wait{socket_, POLLIN, 0};
      if (poll(&wait, 1, patience_ms) != 1) return reap(true), "the child process is silent";
      const ssize_t got = recv(socket_, wrong.data(), wrong.size(), 0);
      if (got <= 0) return "the child process died, status " + std::to_string(reap(false));
      if (wrong[0] != '!') continue;
      reap(false);
      return wrong.substr(1, static_cast<size_t>(got) - 1);
    }
  }

 private:
  int reap(bool kill_it) {
    if (pid_ <= 0) return 0;
    int status = 0;
    if (kill_it) kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
    close(socket_);
    pid_ = -1;
    return status;
  }

  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace railshmem::test
