// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/say.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

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
  char line[2048] = "oshrun: ";
  constexpr size_t kPrefix = 8;
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(line + kPrefix, sizeof line - kPrefix - 1, format, args);
  va_end(args);
  size_t length = kPrefix + std::min(static_cast<size_t>(std::max(n, 0)), sizeof line - kPrefix - 2);
  line[length++] = '\n';
  write_all(STDERR_FILENO, std::string_view(line, length));
}

}  // namespace railshmem::oshrun
