// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <cstring>

#include "bootstrap/tcp/greeting.h"
#include "bootstrap/tcp/listeners.h"
#include "bootstrap/tcp/rendezvous.h"
#include "bootstrap/tcp/socket.h"
#include "src/base/log.h"

namespace railshmem::tcp {
namespace {

/// Asks the owner of a port whether it is another PE 0 of this job, which then refuses this process by name.
void refuse_second_root(const Meeting& meeting, const Address& address) {
  constexpr double kPatience = 0.3;  // a stranger that says nothing delays the start by this much
  const Deadline deadline(kPatience);
  UniqueFd fd = connect_to(address, deadline);
  if (!fd) return;
  Stream stream(std::move(fd));
  const Bytes claim = join_claim(meeting, address);
  if (introduce(stream, address.port(), join, claim, meeting.secret, deadline) != Reception::welcome) return;
  const auto frame = next_frame(stream, deadline);
  if (frame && frame->kind == refused) throw Error(Unpacker(frame->payload).get_text());
}

std::string unusable_ports(const Meeting& meeting, int why) {
  if (why == EADDRINUSE)
    return text(
        "PE 0 cannot listen at %s: all of them are in use, by another job or program. Choose another "
        "MASTER_PORT for all PEs, or let them try more ports than SHMEM_TCP_PORTS %d",
        meeting.place.c_str(), meeting.nports);
  return text(
      "PE 0 cannot listen at %s: %s. MASTER_ADDR must be the host of RANK 0, and MASTER_PORT one that this user "
      "may open (above 1023)",
      meeting.place.c_str(), std::strerror(why));
}

std::vector<UniqueFd> first_free_port(const Meeting& meeting, const std::vector<Address>& addresses) {
  int why = 0;
  for (int port = meeting.first_port; port < meeting.first_port + meeting.nports && port < 65536; ++port) {
    std::vector<UniqueFd> listeners =
        addresses.empty() ? open_listeners_everywhere(port) : open_listeners(addresses, port);
    if (!listeners.empty()) return listeners;
    why = errno;
    if (why == EADDRINUSE) refuse_second_root(meeting, meeting.addresses.front().with_port(port));
  }
  throw Error(unusable_ports(meeting, why));
}

/// The others look for PE 0 at MASTER_ADDR, so one that is somebody else's is a mistake, unless a port is forwarded.
void warn_of_foreign_address(Meeting& meeting) {
  const std::string fact = text("MASTER_ADDR (%s) is not this host's, which has %s",
                                list_hosts(meeting.addresses).c_str(), list_hosts(interface_addresses("")).c_str());
  log_warn("%s, and RANK is 0 here; MASTER_ADDR must be the host where RANK 0 runs", fact.c_str());
  meeting.place += text("; %s", fact.c_str());
}

std::vector<UniqueFd> open_master_port(Meeting& meeting) {
  const ListenerPlan plan = plan_listeners(meeting);
  if (plan.foreign) warn_of_foreign_address(meeting);
  return first_free_port(meeting, plan.addresses);
}

}  // namespace

std::vector<Neighbour> meet_as_root(Meeting meeting) {
  std::vector<UniqueFd> listeners =
      meeting.listeners.empty() ? open_master_port(meeting) : std::move(meeting.listeners);
  Rendezvous rendezvous(meeting, std::move(listeners));
  rendezvous.wait_for_all();
  return rendezvous.hand_out_seats();
}

}  // namespace railshmem::tcp
