// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <climits>

#include "bootstrap/common/variables.h"
#include "bootstrap/tcp/make_tcp.h"
#include "bootstrap/tcp/tcp_bootstrap.h"

namespace railshmem {
namespace {

constexpr const char* kRemedy =
    "start the program with torchrun, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for every PE";

/// Jobs of one host look for a free port in ranges that may overlap: the first port tells them apart.
tcp::Key key_of_port(int first_port) noexcept {
  return {static_cast<uint8_t>(first_port), static_cast<uint8_t>(first_port >> 8)};
}

}  // namespace

std::unique_ptr<Bootstrap> make_tcp_bootstrap(const Env& env) {
  tcp::Meeting meeting{};
  meeting.npes = need_number("WORLD_SIZE", 1, INT_MAX, "tcp", kRemedy);
  meeting.pe = need_number("RANK", 0, INT_MAX, "tcp", kRemedy);
  if (meeting.pe >= meeting.npes)
    throw Error(
        text("RANK is %d, but WORLD_SIZE is %d; RANK counts from 0 to WORLD_SIZE - 1", meeting.pe, meeting.npes));
  const std::string host = need_variable("MASTER_ADDR", "tcp", kRemedy);
  meeting.first_port = need_number("MASTER_PORT", 1, 65535, "tcp", kRemedy);
  meeting.nports =
      static_cast<int>(std::clamp<uint64_t>(env.tcp_ports, 1, 65536 - static_cast<uint64_t>(meeting.first_port)));
  meeting.key = key_of_port(meeting.first_port);
  meeting.timeout_s = env.timeout_s;
  meeting.interface = env.tcp_interface;
  meeting.secret = tcp::secret_of(env);
  meeting.addresses = tcp::resolve(host, meeting.first_port, "MASTER_ADDR");
  meeting.reachability = host == "localhost" || host == "127.0.0.1" || host == "::1" ? tcp::Reachability::this_host
                                                                                     : tcp::Reachability::everywhere;
  meeting.place =
      text("MASTER_ADDR %s, ports %d to %d", host.c_str(), meeting.first_port, meeting.first_port + meeting.nports - 1);
  return std::make_unique<TcpBootstrap>(std::move(meeting));
}

}  // namespace railshmem
