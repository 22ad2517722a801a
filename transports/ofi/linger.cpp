// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/linger.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace railshmem::ofi {
namespace {

/// An IP address and a port in one form, whichever family they came in: IPv4 as an IPv4-mapped IPv6 address.
using Place = std::array<std::byte, 18>;

std::optional<Place> place_of(std::span<const std::byte> bytes) {
  sa_family_t family = AF_UNSPEC;
  if (bytes.size() < sizeof family) return {};
  std::memcpy(&family, bytes.data() + offsetof(sockaddr, sa_family), sizeof family);
  Place place{};
  if (family == AF_INET && bytes.size() >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, bytes.data(), sizeof v4);
    place[10] = place[11] = std::byte{0xff};
    std::memcpy(&place[12], &v4.sin_addr, 4);
    std::memcpy(&place[16], &v4.sin_port, 2);
    return place;
  }
  if (family == AF_INET6 && bytes.size() >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, bytes.data(), sizeof v6);
    std::memcpy(&place[0], &v6.sin6_addr, 16);
    std::memcpy(&place[16], &v6.sin6_port, 2);
    return place;
  }
  return {};
}

template <class Name>
std::optional<Place> place_of_socket(int fd, Name name) {
  sockaddr_storage address{};
  socklen_t nbytes = sizeof address;
  if (name(fd, reinterpret_cast<sockaddr*>(&address), &nbytes) != 0) return {};
  return place_of(std::as_bytes(std::span(&address, 1)).first(std::min<size_t>(nbytes, sizeof address)));
}

bool is_tcp(int fd) {
  int type = 0;
  socklen_t nbytes = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &nbytes) == 0 && type == SOCK_STREAM;
}

std::vector<int> open_files() {
  struct Close {
    void operator()(DIR* folder) const noexcept { closedir(folder); }
  };
  std::vector<int> fds;
  const std::unique_ptr<DIR, Close> folder(opendir("/proc/self/fd"));
  if (!folder) return fds;
  while (const dirent* entry = readdir(folder.get()))
    if (entry->d_name[0] != '.') fds.push_back(std::atoi(entry->d_name));
  return fds;
}

}  // namespace

size_t discard_unsent(std::span<const std::byte> own, std::span<const std::span<const std::byte>> peers) {
  const std::optional<Place> mine = place_of(own);
  if (!mine) return 0;
  std::vector<Place> theirs;
  for (const auto& peer : peers)
    if (const std::optional<Place> place = place_of(peer)) theirs.push_back(*place);
  std::sort(theirs.begin(), theirs.end());
  size_t found = 0;
  for (const int fd : open_files()) {
    if (!is_tcp(fd)) continue;
    const std::optional<Place> remote = place_of_socket(fd, getpeername);  // nothing for a listener
    if (!remote) continue;
    if (place_of_socket(fd, getsockname) != mine && !std::binary_search(theirs.begin(), theirs.end(), *remote))
      continue;
    const linger at_once{1, 0};
    found += setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0;
  }
  return found;
}

}  // namespace railshmem::ofi
