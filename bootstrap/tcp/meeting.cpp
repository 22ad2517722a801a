// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/meeting.h"

#include <unistd.h>

namespace railshmem::tcp {

std::vector<Neighbour> meet(Meeting meeting) {
  if (meeting.npes == 1) return {};
  return meeting.pe == 0 ? meet_as_root(std::move(meeting)) : meet_as_member(meeting);
}

std::string who_am_i() {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  return text("host %s, pid %d", host, static_cast<int>(getpid()));
}

}  // namespace railshmem::tcp
