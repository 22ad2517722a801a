// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/private_socket.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "src/base/error.h"
#include "src/base/fd_message.h"
#include "src/base/log.h"

namespace railshmem {
namespace {

constexpr int kWaiting = 128;  // clients that have connected and are not served yet

}  // namespace

std::array<uint64_t, 2> unguessable() {
  std::array<uint64_t, 2> number{};
  check_errno(getrandom(number.data(), sizeof number, 0) == sizeof number, "getrandom");
  return number;
}

PrivateSocket listen_privately() {
  PrivateSocket made;
  made.listener = UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  made.name = text("railshmem-%016llx", static_cast<unsigned long long>(unguessable()[0]));
  const AbstractAddress address(made.name.c_str());
  if (made.listener && bind(made.listener.get(), address.get(), address.nbytes()) == 0 &&
      listen(made.listener.get(), kWaiting) == 0)
    return made;
  log_debug("no socket for peers of this host: %s", std::strerror(errno));
  return {};
}

}  // namespace railshmem
