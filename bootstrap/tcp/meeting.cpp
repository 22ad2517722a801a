// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/meeting.h"

#include <unistd.h>

namespace railshmem::tcp {

std::vector<Neighbour> meet(Meeting meeting) {
  // Few PEs announce an address, but a wrong name is as wrong in a small job.
  if (!meeting.interface.empty()) interface_addresses(meeting.interface);
  if (meeting.npes == 1) return {};
  return meeting.pe == 0 ? meet_as_root(std::move(meeting)) : meet_as_member(meeting);
}

Bytes join_claim(const Meeting& meeting, const Address& address) {
  Packer packer;
  packer.add(meeting.key).add(meeting.pe).add(meeting.npes);
  pack(packer, address);
  return packer.add_text(who_am_i()).take();
}

std::string who_am_i() {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  return text("host %s, pid %d", host, static_cast<int>(getpid()));
}

}  // namespace railshmem::tcp
