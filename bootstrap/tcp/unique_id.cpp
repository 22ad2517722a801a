// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include "bootstrap/tcp/doors.h"
#include "bootstrap/tcp/make_tcp.h"
#include "bootstrap/tcp/random_bytes.h"
#include "bootstrap/tcp/tcp_bootstrap.h"

namespace railshmem {
namespace {

constexpr uint64_t kIdMagic = 0x3244494d48535352;  // "RSSHMID2": version 2 of the layout
constexpr size_t kIdSize = 128;
constexpr size_t kMostAddresses = (kIdSize - sizeof kIdMagic - sizeof(tcp::Key) - 2) / tcp::kPackedAddress;

/// Sockets of the ids that this process made and nobody has joined by yet. Lives as long as the process, because
/// an id is made before any World exists that could own it.
struct OpenIds {
  std::mutex mutex;
  std::map<tcp::Key, std::vector<UniqueFd>> doors;
};
OpenIds& open_ids() {
  static OpenIds ids;
  return ids;
}

/// What the key of an id is. The process that makes the id decides, so a stranger cannot turn proofs off.
enum class KeyUse : uint8_t {
  shown,   ///< sent as it is, where there is no library for anything better
  proven,  ///< a secret that never travels
};

struct Id {
  KeyUse use;
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
  out.use = fields.get<uint8_t>() == 0 ? KeyUse::shown : KeyUse::proven;
  out.key = fields.get<tcp::Key>();
  const auto count = fields.get<uint8_t>();
  for (unsigned i = 0; i < count && i < kMostAddresses; ++i) out.addresses.push_back(tcp::unpack_address(fields));
  if (out.addresses.empty()) throw Error("the unique id holds no address");
  return out;
}

/// At those addresses only, if they have a port in common.
std::vector<UniqueFd> open_id_doors(const std::vector<tcp::Address>& addresses) {
  std::vector<UniqueFd> doors = tcp::open_doors(addresses, 0);
  if (doors.empty()) doors = tcp::open_doors_everywhere(0);
  check_errno(!doors.empty(), "listen (for a unique id)");
  return doors;
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
  addresses.resize(std::min(addresses.size(), kMostAddresses));
  const auto key = tcp::random_bytes<tcp::Key>();
  std::vector<UniqueFd> doors = open_id_doors(addresses);
  const int port = tcp::local_address(doors.front().get()).port();
  const KeyUse use = tcp::have_hmac() ? KeyUse::proven : KeyUse::shown;
  Packer packer;
  packer.add(kIdMagic).add(use).add(key).add(static_cast<uint8_t>(addresses.size()));
  for (const tcp::Address& address : addresses) pack(packer, address.with_port(port));
  const Bytes bytes = packer.take();
  std::memset(id, 0, sizeof id);
  std::memcpy(id, bytes.data(), bytes.size());
  OpenIds& ids = open_ids();
  const std::lock_guard lock(ids.mutex);
  ids.doors.emplace(key, std::move(doors));
}

std::unique_ptr<Bootstrap> make_tcp_bootstrap_from_id(const Env& env, const char* id, int pe, int npes) {
  if (npes < 1 || pe < 0 || pe >= npes)
    throw Error(text("joining by unique id needs 0 <= pe < npes; given were pe %d and npes %d", pe, npes));
  const Id decoded = decode(id);
  tcp::Meeting meeting{};
  meeting.pe = pe;
  meeting.npes = npes;
  meeting.timeout_s = env.timeout_s;
  meeting.secret = tcp::secret_of(env);
  if (decoded.use == KeyUse::proven)
    meeting.secret = secret_with(meeting.secret, decoded.key);
  else
    meeting.key = decoded.key;
  meeting.addresses = decoded.addresses;
  meeting.first_port = decoded.addresses.front().port();
  meeting.nports = 1;
  meeting.interface = env.tcp_interface;
  meeting.place = text("the unique id's address %s", decoded.addresses.front().text().c_str());
  {
    OpenIds& ids = open_ids();
    const std::lock_guard lock(ids.mutex);
    auto made_here = ids.doors.extract(decoded.key);
    if (pe == 0 && !made_here)
      throw Error(
          "PE 0 did not make this unique id, or has joined by it before: the process that calls "
          "shmemx_get_uniqueid must be PE 0, and an id serves one job");
    if (pe != 0 && made_here)
      throw Error(text("this process made the unique id and must join as PE 0, not as PE %d", pe));
    if (made_here) meeting.doors = std::move(made_here.mapped());
  }
  return std::make_unique<TcpBootstrap>(std::move(meeting));
}

}  // namespace railshmem
