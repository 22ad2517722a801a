// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/say.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "src/base/printable.h"

namespace railshmem::oshrun {

bool write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (n < 0 && errno != EINTR) {
      return errno != EPIPE;
    } else if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  return true;
}

void say(const char* format, ...) noexcept {
  char message[2048];
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(message, sizeof message, format, args);
  va_end(args);
  const size_t length = std::min(static_cast<size_t>(std::max(n, 0)), sizeof message - 1);
  char line[2 * sizeof message] = "oshrun: ";
  size_t nbytes = strlen(line);
  nbytes += write_printable(line + nbytes, sizeof line - nbytes - 1, std::string_view(message, length));
  line[nbytes++] = '\n';
  write_all(STDERR_FILENO, std::string_view(line, nbytes));
}

void say_lines(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);  // so ssh ends its lines
    out += printable(line) + "\n";
  }
  write_all(STDERR_FILENO, out);
}

}  // namespace railshmem::oshrun
