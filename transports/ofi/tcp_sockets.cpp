// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/tcp_sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "src/base/fds.h"

namespace railshmem::ofi {
namespace {

/// An IP address and a port in one form, whichever family they came in: IPv4 as an IPv4-mapped IPv6 address.
using SocketAddress = std::array<std::byte, 18>;

std::optional<SocketAddress> address_from(std::span<const std::byte> bytes) {
  sa_family_t family = AF_UNSPEC;
  if (bytes.size() < sizeof family) return {};
  std::memcpy(&family, bytes.data() + offsetof(sockaddr, sa_family), sizeof family);
  SocketAddress address{};
  if (family == AF_INET && bytes.size() >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, bytes.data(), sizeof v4);
    address[10] = address[11] = std::byte{0xff};
    std::memcpy(&address[12], &v4.sin_addr, 4);
    std::memcpy(&address[16], &v4.sin_port, 2);
    return address;
  }
  if (family == AF_INET6 && bytes.size() >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, bytes.data(), sizeof v6);
    std::memcpy(&address[0], &v6.sin6_addr, 16);
    std::memcpy(&address[16], &v6.sin6_port, 2);
    return address;
  }
  return {};
}

template <class Name>
std::optional<SocketAddress> address_of_socket(int fd, Name name) {
  sockaddr_storage address{};
  socklen_t nbytes = sizeof address;
  if (name(fd, reinterpret_cast<sockaddr*>(&address), &nbytes) != 0) return {};
  return address_from(std::as_bytes(std::span(&address, 1)).first(std::min<size_t>(nbytes, sizeof address)));
}

bool is_tcp(int fd) {
  int type = 0;
  socklen_t nbytes = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &nbytes) == 0 && type == SOCK_STREAM;
}

std::vector<int> open_files() {
  std::vector<int> fds;
  const Folder folder = open_folder("/proc/self/fd");
  if (!folder) return fds;
  while (const dirent* entry = readdir(folder.get()))
    if (entry->d_name[0] != '.') fds.push_back(std::atoi(entry->d_name));
  return fds;
}

/// Without the port.
std::span<const std::byte> interface_of(const SocketAddress& address) {
  return std::span(address).first(16);
}

struct TcpSocket {
  int fd;
  SocketAddress local;
  std::optional<SocketAddress> remote;  ///< nothing while the connection is being made
};

/// Of this process, but for those that listen.
std::vector<TcpSocket> connections() {
  std::vector<TcpSocket> all;
  for (const int fd : open_files()) {
    if (!is_tcp(fd)) continue;
    tcp_info info{};
    socklen_t nbytes = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &nbytes) != 0 || info.tcpi_state == TCP_LISTEN) continue;
    if (const std::optional<SocketAddress> local = address_of_socket(fd, getsockname))
      all.push_back({fd, *local, address_of_socket(fd, getpeername)});
  }
  return all;
}

std::vector<SocketAddress> addresses_of(std::span<const std::span<const std::byte>> addresses) {
  std::vector<SocketAddress> found;
  for (const auto& bytes : addresses)
    if (const std::optional<SocketAddress> address = address_from(bytes)) found.push_back(*address);
  std::sort(found.begin(), found.end());
  return found;
}

/// A connection to one of `theirs`, or that was accepted at `mine` from the interface of one.
bool joins(const TcpSocket& socket, const SocketAddress& mine, const std::vector<SocketAddress>& theirs) {
  if (std::binary_search(theirs.begin(), theirs.end(), *socket.remote)) return true;
  return socket.local == mine && std::any_of(theirs.begin(), theirs.end(), [&](const SocketAddress& peer) {
           return std::ranges::equal(interface_of(peer), interface_of(*socket.remote));
         });
}

constexpr int kProbeSeconds = 1;  // the shortest
// Later on. Never off: whatever else goes wrong, an end whose other end is gone must not refuse its successor forever.
constexpr int kRareProbeSeconds = 30;

template <class Value>
size_t set_option(int fd, int level, int name, Value value) {
  return setsockopt(fd, level, name, &value, sizeof value) == 0 ? 1 : 0;
}

}  // namespace

size_t discard_unsent(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers) {
  const std::optional<SocketAddress> mine = address_from(own);
  if (!mine) return 0;
  const std::vector<SocketAddress> theirs = addresses_of(peers);
  size_t found = 0;
  for (const TcpSocket& socket : connections())
    if (socket.remote && (socket.local == *mine || std::binary_search(theirs.begin(), theirs.end(), *socket.remote)))
      found += set_option(socket.fd, SOL_SOCKET, SO_LINGER, linger{1, 0});
  return found;
}

size_t cut(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers) {
  const std::optional<SocketAddress> mine = address_from(own);
  if (!mine) return 0;
  const std::vector<SocketAddress> theirs = addresses_of(peers);
  size_t found = 0;
  for (const TcpSocket& socket : connections()) {
    if (!socket.remote || !joins(socket, *mine, theirs)) continue;
    set_option(socket.fd, SOL_SOCKET, SO_LINGER, linger{1, 0});
    found += shutdown(socket.fd, SHUT_RDWR) == 0;
  }
  return found;
}

size_t limit_silence(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers,
                     unsigned timeout_ms) {
  const std::optional<SocketAddress> mine = address_from(own);
  if (!mine) return 0;
  const std::vector<SocketAddress> theirs = addresses_of(peers);
  const auto is_meant = [&](const TcpSocket& socket) {
    if (!socket.remote) return std::ranges::equal(interface_of(socket.local), interface_of(*mine));
    return joins(socket, *mine, theirs);
  };
  size_t found = 0;
  for (const TcpSocket& socket : connections())
    if (is_meant(socket)) {
      found += set_option(socket.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, timeout_ms);
      const int probe_seconds = timeout_ms > 0 ? kProbeSeconds : kRareProbeSeconds;
      set_option(socket.fd, IPPROTO_TCP, TCP_KEEPINTVL, probe_seconds);
      set_option(socket.fd, SOL_SOCKET, SO_KEEPALIVE, 1);
      set_option(socket.fd, IPPROTO_TCP, TCP_KEEPIDLE, probe_seconds);  // last: who was idle for as long asks at once
    }
  return found;
}

}  // namespace railshmem::ofi
