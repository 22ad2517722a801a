// SPDX-License-Identifier: BSD-3-Clause
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "bootstrap/tcp/enrolment.h"

namespace railshmem::tcp {
namespace {

/// Where PE 0 listens: everywhere, unless the job was told to stay on this host.
std::vector<Address> listening_addresses(const Meeting& meeting) {
  if (meeting.reachability == Reachability::this_host) return meeting.addresses;
  return {any_address(AF_INET6, 0), any_address(AF_INET, 0)};
}

/// Asks whoever holds a port whether it is another PE 0 of this job; that one then refuses us by name.
void refuse_second_root(const Meeting& meeting, const Address& address) {
  constexpr double kPatience = 0.3;  // a stranger that says nothing delays the start by this much
  UniqueFd fd = connect_to(address, Deadline(kPatience));
  if (!fd) return;
  Stream stream(std::move(fd));
  Packer packer;
  packer.add(meeting.key).add(0).add(meeting.npes);
  pack(packer, address);
  stream.push(enroll, packer.add_text(who_am_i()).take());
  const Deadline deadline(kPatience);
  while (stream.open() && !deadline.passed()) {
    stream.pump();
    while (const auto frame = stream.pop())
      if (frame->kind == refused) throw Error(Unpacker(frame->payload).get_text());
    pollfd wait{stream.fd(), POLLIN, 0};
    poll(&wait, 1, deadline.slice_ms(kWaitSliceMs));
  }
}

UniqueFd first_free_port(const Meeting& meeting) {
  const std::vector<Address> addresses = listening_addresses(meeting);
  int why = 0;
  for (int port = meeting.first_port; port < meeting.first_port + meeting.nports && port < 65536; ++port) {
    for (const Address& address : addresses) {
      UniqueFd fd = listen_on(address.with_port(port));
      if (fd) return fd;
      why = errno;
      if (why == EADDRINUSE) break;
    }
    if (why == EADDRINUSE) refuse_second_root(meeting, meeting.addresses.front().with_port(port));
  }
  throw Error(text("PE 0 cannot listen at %s: %s. MASTER_ADDR must be the host of RANK 0; SHMEM_TCP_PORTS sets how many "
                   "ports are tried",
                   meeting.place.c_str(), std::strerror(why)));
}

}  // namespace

std::vector<Neighbour> meet_as_root(Meeting meeting) {
  UniqueFd listener = meeting.listener ? std::move(meeting.listener) : first_free_port(meeting);
  Enrolment enrolment(meeting, std::move(listener));
  enrolment.wait_for_all();
  return enrolment.hand_out_seats();
}

}  // namespace railshmem::tcp
