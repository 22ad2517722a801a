// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmi/pmi_wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "src/base/error.h"

namespace railshmem::pmi {
namespace {

/// Lines of launchers have a few KiB; whatever is at the socket must not fill the memory.
constexpr size_t kLongestLine = size_t{1} << 20;

}  // namespace

Fields parse_line(const std::string& line) {
  Fields fields;
  for (size_t at = line.find_first_not_of(' '); at != std::string::npos; at = line.find_first_not_of(' ', at)) {
    const size_t equal = line.find('=', at);
    if (equal == std::string::npos) break;
    const std::string key = line.substr(at, equal - at);
    const size_t end = line.find(' ', equal);
    fields[key] = line.substr(equal + 1, end == std::string::npos ? end : end - equal - 1);
    if (end == std::string::npos) break;
    at = end;
  }
  return fields;
}

Fields Wire::ask(const std::string& line, const char* expected) {
  send(line);
  return receive(expected);
}

void Wire::send(const std::string& line) {
  const std::string out = line + "\n";
  for (size_t sent = 0; sent < out.size();) {
    const ssize_t n = ::send(fd_.get(), out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(text("the PMI server does not take '%s': %s", line.c_str(), std::strerror(errno)));
    sent += static_cast<size_t>(n);
  }
}

Fields Wire::receive(const char* expected) {
  const std::string line = read_line(expected);
  Fields fields = parse_line(line);
  const auto rc = fields.find("rc");
  if (fields["cmd"] != expected || (rc != fields.end() && rc->second != "0"))
    throw Error(text("the PMI server answered '%s' where '%s' was expected", line.c_str(), expected));
  return fields;
}

std::string Wire::read_line(const char* expected) {
  const Deadline deadline = Deadline::of_limit(timeout_s_);
  for (;;) {
    const size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    pollfd wait{fd_.get(), POLLIN, 0};
    if (poll(&wait, 1, deadline.slice_ms(1000)) <= 0 && deadline.passed())
      throw Error(text("no '%s' from the PMI server within %g s (SHMEM_TIMEOUT)", expected, timeout_s_));
    if (!wait.revents) continue;
    char piece[4096];
    const ssize_t n = recv(fd_.get(), piece, sizeof piece, MSG_DONTWAIT);
    if (n > 0 && buffer_.size() + static_cast<size_t>(n) > kLongestLine)
      throw Error(
          text("the PMI server sent more than %zu bytes without an end of line where '%s' was expected; PMI_FD or "
               "PMI_PORT must lead to the launcher (mpiexec, srun)",
               kLongestLine, expected));
    if (n > 0)
      buffer_.append(piece, static_cast<size_t>(n));
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
      throw Error("the PMI server closed the connection");
  }
}

}  // namespace railshmem::pmi
