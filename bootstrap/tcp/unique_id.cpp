// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include "bootstrap/tcp/id.h"
#include "bootstrap/tcp/listeners.h"
#include "bootstrap/tcp/make_tcp.h"
#include "bootstrap/tcp/random_bytes.h"
#include "bootstrap/tcp/tcp_bootstrap.h"
#include "src/base/process.h"

namespace railshmem {

/// Sockets of the ids that this process made and nobody has joined by yet. An id is made before any World exists that
/// could own it.
struct tcp::OpenIds {
  std::mutex mutex;
  std::map<tcp::Key, std::vector<UniqueFd>> listeners;
};

namespace {

tcp::OpenIds& open_ids() {
  return g_process.tcp_ids.get();
}

/// At those addresses only, if they have a port in common.
std::vector<UniqueFd> open_id_listeners(const std::vector<tcp::Address>& addresses) {
  std::vector<UniqueFd> listeners = tcp::open_listeners(addresses, 0);
  if (listeners.empty()) listeners = tcp::open_listeners_everywhere(0);
  check_errno(!listeners.empty(), "listen (for a unique id)");
  return listeners;
}

/// The id's key, after the secret that the user gave in addition.
tcp::Secret secret_with(const tcp::Secret& of_user, const tcp::Key& key) {
  return tcp::Secret(of_user.bytes() + std::string(reinterpret_cast<const char*>(key.data()), key.size()));
}

}  // namespace

void make_tcp_unique_id(const Env& env, char (&id)[128]) {
  std::vector<tcp::Address> addresses = tcp::interface_addresses(env.tcp_interface);
  // Other hosts reach this one by any interface but loopback, which is for a host without network.
  if (!addresses.front().loopback()) std::erase_if(addresses, [](const tcp::Address& a) { return a.loopback(); });
  addresses.resize(std::min(addresses.size(), tcp::most_addresses_of_id()));
  const auto key = tcp::random_bytes<tcp::Key>();
  std::vector<UniqueFd> listeners = open_id_listeners(addresses);
  const int port = tcp::local_address(listeners.front().get()).port();
  for (tcp::Address& address : addresses) address = address.with_port(port);
  const tcp::KeyUse use = tcp::have_hmac() ? tcp::KeyUse::proven : tcp::KeyUse::shown;
  const Bytes bytes = tcp::pack_id({use, key, std::move(addresses)});
  std::memset(id, 0, sizeof id);
  std::memcpy(id, bytes.data(), bytes.size());
  tcp::OpenIds& ids = open_ids();
  const std::lock_guard lock(ids.mutex);
  ids.listeners.emplace(key, std::move(listeners));
}

std::unique_ptr<Bootstrap> make_tcp_bootstrap_from_id(const Env& env, const char* id, int pe, int npes) {
  if (npes < 1 || pe < 0 || pe >= npes)
    throw Error(text("joining by unique id needs 0 <= pe < npes; given were pe %d and npes %d", pe, npes));
  const tcp::Id decoded = tcp::unpack_id(std::as_bytes(std::span<const char, tcp::kIdSize>(id, tcp::kIdSize)));
  tcp::Meeting meeting{};
  meeting.pe = pe;
  meeting.npes = npes;
  meeting.timeout_s = env.timeout_s;
  meeting.secret = tcp::secret_of(env);
  if (decoded.use == tcp::KeyUse::proven)
    meeting.secret = secret_with(meeting.secret, decoded.key);
  else
    meeting.key = decoded.key;
  meeting.addresses = decoded.addresses;
  meeting.first_port = decoded.addresses.front().port();
  meeting.nports = 1;
  meeting.interface = env.tcp_interface;
  meeting.place = text("the unique id's address %s", decoded.addresses.front().text().c_str());
  {
    tcp::OpenIds& ids = open_ids();
    const std::lock_guard lock(ids.mutex);
    auto made_here = ids.listeners.extract(decoded.key);
    if (pe == 0 && !made_here)
      throw Error(
          "PE 0 did not make this unique id, or has joined by it before: the process that calls "
          "shmemx_get_uniqueid must be PE 0, and an id serves one job");
    if (pe != 0 && made_here)
      throw Error(text("this process made the unique id and must join as PE 0, not as PE %d", pe));
    if (made_here) meeting.listeners = std::move(made_here.mapped());
  }
  return std::make_unique<TcpBootstrap>(std::move(meeting));
}

}  // namespace railshmem
