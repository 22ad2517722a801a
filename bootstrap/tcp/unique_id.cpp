// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include "bootstrap/tcp/make_tcp.h"
#include "bootstrap/tcp/random_bytes.h"
#include "bootstrap/tcp/socket.h"
#include "bootstrap/tcp/tcp_bootstrap.h"

namespace railshmem {
namespace {

constexpr uint64_t kIdMagic = 0x3144494d48535352;  // "RSSHMID1": version 1 of the layout
constexpr size_t kIdSize = 128;
constexpr size_t kMostAddresses = (kIdSize - sizeof kIdMagic - sizeof(tcp::Key) - 1) / tcp::kPackedAddress;

/// Sockets of the ids that this process made and nobody has joined by yet. Lives as long as the process, because
/// an id is made before any World exists that could own it.
struct OpenIds {
  std::mutex mutex;
  std::map<tcp::Key, UniqueFd> listeners;
};
OpenIds& open_ids() {
  static OpenIds ids;
  return ids;
}

struct Id {
  tcp::Key key;
  std::vector<tcp::Address> addresses;
};

Id decode(const char* id) {
  Unpacker fields(std::as_bytes(std::span(id, kIdSize)));
  Id out;
  if (fields.get<uint64_t>() != kIdMagic)
    throw Error(
        "the unique id was not made by shmemx_get_uniqueid of this library version, or its 128 bytes were not "
        "copied whole");
  out.key = fields.get<tcp::Key>();
  const auto count = fields.get<uint8_t>();
  for (unsigned i = 0; i < count && i < kMostAddresses; ++i) out.addresses.push_back(tcp::unpack_address(fields));
  if (out.addresses.empty()) throw Error("the unique id holds no address");
  return out;
}

}  // namespace

void make_tcp_unique_id(const Env& env, char (&id)[128]) {
  UniqueFd listener = tcp::listen_on(tcp::any_address(AF_INET6, 0));
  if (!listener) listener = tcp::listen_on(tcp::any_address(AF_INET, 0));
  check_errno(static_cast<bool>(listener), "listen (for a unique id)");
  std::vector<tcp::Address> addresses = tcp::interface_addresses(env.tcp_interface);
  // Other hosts reach this one by any interface but loopback, which is for a host without network.
  if (!addresses.front().loopback()) std::erase_if(addresses, [](const tcp::Address& a) { return a.loopback(); });
  addresses.resize(std::min(addresses.size(), kMostAddresses));
  const auto key = tcp::random_bytes<tcp::Key>();
  const int port = tcp::local_address(listener.get()).port();
  Packer packer;
  packer.add(kIdMagic).add(key).add(static_cast<uint8_t>(addresses.size()));
  for (const tcp::Address& address : addresses) pack(packer, address.with_port(port));
  const Bytes bytes = packer.take();
  std::memset(id, 0, sizeof id);
  std::memcpy(id, bytes.data(), bytes.size());
  OpenIds& ids = open_ids();
  const std::lock_guard lock(ids.mutex);
  ids.listeners.emplace(key, std::move(listener));
}

std::unique_ptr<Bootstrap> make_tcp_bootstrap_from_id(const Env& env, const char* id, int pe, int npes) {
  if (npes < 1 || pe < 0 || pe >= npes)
    throw Error(text("joining by unique id needs 0 <= pe < npes; given were pe %d and npes %d", pe, npes));
  const Id decoded = decode(id);
  tcp::Meeting meeting{};
  meeting.pe = pe;
  meeting.npes = npes;
  meeting.timeout_s = env.timeout_s;
  meeting.key = decoded.key;
  meeting.addresses = decoded.addresses;
  meeting.first_port = decoded.addresses.front().port();
  meeting.nports = 1;
  meeting.interface = env.tcp_interface;
  meeting.place = text("the unique id's address %s", decoded.addresses.front().text().c_str());
  {
    OpenIds& ids = open_ids();
    const std::lock_guard lock(ids.mutex);
    auto made_here = ids.listeners.extract(decoded.key);
    if (pe == 0 && !made_here)
      throw Error(
          "PE 0 did not make this unique id, or has joined by it before: the process that calls "
          "shmemx_get_uniqueid must be PE 0, and an id serves one job");
    if (pe != 0 && made_here)
      throw Error(text("this process made the unique id and must join as PE 0, not as PE %d", pe));
    if (made_here) meeting.listener = std::move(made_here.mapped());
  }
  return std::make_unique<TcpBootstrap>(std::move(meeting));
}

}  // namespace railshmem
