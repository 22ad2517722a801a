// SPDX-License-Identifier: BSD-3-Clause
// A rail's sockets: closing discards what was not sent, silence is limited, and sockets of others are left alone.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "transports/ofi/tcp_sockets.h"

namespace railshmem::ofi {
namespace {

struct Socket {
  explicit Socket(int number) : fd(number) {}
  Socket(Socket&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  ~Socket() { reset(); }
  void reset() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  int fd;
};

using Address = std::vector<std::byte>;

Address name_of(const Socket& socket) {
  sockaddr_in address{};
  socklen_t nbytes = sizeof address;
  EXPECT_EQ(getsockname(socket.fd, reinterpret_cast<sockaddr*>(&address), &nbytes), 0);
  const auto bytes = std::as_bytes(std::span(&address, 1));
  return {bytes.begin(), bytes.end()};
}

Socket listener() {
  Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(socket.fd, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  EXPECT_EQ(listen(socket.fd, 8), 0);
  return socket;
}

struct Connection {
  Socket caller;
  Socket accepted;
};

Connection connect_to(const Socket& listener) {
  Socket caller(::socket(AF_INET, SOCK_STREAM, 0));
  const Address address = name_of(listener);
  EXPECT_EQ(connect(caller.fd, reinterpret_cast<const sockaddr*>(address.data()), sizeof(sockaddr_in)), 0);
  Socket accepted(accept(listener.fd, nullptr, nullptr));
  return {std::move(caller), std::move(accepted)};
}

/// What a blocked reader sees after the other end was closed: all that was sent and an end, or a reset.
bool ends_in_reset(const Socket& reader) {
  char bytes[4096];
  for (;;) {
    pollfd ready{reader.fd, POLLIN, 0};
    if (poll(&ready, 1, 5000) != 1) return false;
    const ssize_t n = recv(reader.fd, bytes, sizeof bytes, 0);
    if (n < 0) return errno == ECONNRESET;
    if (n == 0) return false;
  }
}

/// More than the receiver's window, so that some of it is still here when the socket is closed.
void fill_up(const Socket& socket) {
  const std::vector<char> bytes(1 << 16);
  while (send(socket.fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
  }
}

TEST(DiscardUnsent, SocketsThatTheRailConnectedAndAcceptedAreReset) {
  const Socket own = listener();
  const Socket peer = listener();
  Connection out = connect_to(peer);
  Connection in = connect_to(own);
  const Address peer_address = name_of(peer);
  const std::span<const std::byte> peers[] = {peer_address};
  EXPECT_EQ(discard_unsent(name_of(own), peers), 2u);
  fill_up(out.caller);
  fill_up(in.accepted);
  out.caller.reset();
  in.accepted.reset();
  EXPECT_TRUE(ends_in_reset(out.accepted));
  EXPECT_TRUE(ends_in_reset(in.caller));
}

TEST(DiscardUnsent, OtherSocketsOfTheSameInterfaceStillSendAll) {
  const Socket own = listener();
  const Socket peer = listener();
  const Socket stranger = listener();
  Connection other = connect_to(stranger);
  const Address peer_address = name_of(peer);
  const std::span<const std::byte> peers[] = {peer_address};
  EXPECT_EQ(discard_unsent(name_of(own), peers), 0u);
  fill_up(other.caller);
  other.caller.reset();
  EXPECT_FALSE(ends_in_reset(other.accepted));
}

TEST(DiscardUnsent, AddressesOfOtherKindsAreIgnored) {
  const Socket own = listener();
  const std::byte name[] = {std::byte{'s'}, std::byte{'h'}, std::byte{'m'}, std::byte{0}};
  const std::span<const std::byte> peers[] = {name};
  EXPECT_EQ(discard_unsent(name, peers), 0u);
  EXPECT_EQ(discard_unsent(name_of(own), peers), 0u);
  EXPECT_EQ(discard_unsent({}, {}), 0u);
}

bool asks_when_idle(const Socket& socket) {
  int on = 0;
  socklen_t nbytes = sizeof on;
  EXPECT_EQ(getsockopt(socket.fd, SOL_SOCKET, SO_KEEPALIVE, &on, &nbytes), 0);
  return on != 0;
}

/// TCP_USER_TIMEOUT; 0 is the system's own patience.
unsigned limit_of(const Socket& socket) {
  unsigned timeout_ms = 0;
  socklen_t nbytes = sizeof timeout_ms;
  EXPECT_EQ(getsockopt(socket.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, &nbytes), 0);
  return timeout_ms;
}

TEST(LimitSilence, ConnectionsToThePeersAndFromTheirInterfaces) {
  const Socket own = listener();
  const Socket peer = listener();
  const Connection out = connect_to(peer);
  const Connection in = connect_to(own);
  const Address peer_address = name_of(peer);
  const std::span<const std::byte> peers[] = {peer_address};
  EXPECT_EQ(limit_silence(name_of(own), peers, 1234), 2u);
  EXPECT_EQ(limit_of(out.caller), 1234u);
  EXPECT_EQ(limit_of(in.accepted), 1234u);
  EXPECT_TRUE(asks_when_idle(out.caller));
  EXPECT_TRUE(asks_when_idle(in.accepted));
  EXPECT_EQ(limit_of(out.accepted), 0u) << "the peer's own end, were it in this process";
  EXPECT_EQ(limit_silence(name_of(own), peers, 0), 2u);
  EXPECT_EQ(limit_of(out.caller), 0u);
  EXPECT_TRUE(asks_when_idle(out.caller)) << "rarely, but forever";
}

// The state after an outage in which the other end gave up: the other end's goodbye did not arrive.
TEST(LimitSilence, AnIdleEndWhoseOtherEndIsGoneHearsOfIt) {
  const Socket own = listener();
  Connection in = connect_to(own);
  const int on = 1;
  if (setsockopt(in.caller.fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof on) != 0)
    GTEST_SKIP() << "this user may not close a connection without telling the other end";
  close(std::exchange(in.caller.fd, -1));
  pollfd ended{in.accepted.fd, POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 100), 0) << "it was told";
  const Address peer_address = name_of(own);  // of the interface of `own`
  const std::span<const std::byte> peers[] = {peer_address};
  EXPECT_EQ(limit_silence(name_of(own), peers, 1000), 1u);
  EXPECT_EQ(poll(&ended, 1, 10000), 1);
}

TEST(LimitSilence, ConnectionsThatAreBeingMade) {
  const Socket own = listener();
  const Socket full(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(full.fd, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  ASSERT_EQ(listen(full.fd, 0), 0);
  const Address address = name_of(full);
  // Once its queue is full a listener answers nobody.
  std::vector<Socket> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    ASSERT_EQ(bind(callers.back().fd, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    (void)connect(callers.back().fd, reinterpret_cast<const sockaddr*>(address.data()), sizeof any);
  }
  const std::span<const std::byte> peers[] = {address};
  EXPECT_EQ(limit_silence(name_of(own), peers, 300), callers.size());
  pollfd answer{callers.back().fd, POLLOUT, 0};
  ASSERT_EQ(poll(&answer, 1, 10000), 1) << "still asks";
  int error = 0;
  socklen_t nbytes = sizeof error;
  ASSERT_EQ(getsockopt(callers.back().fd, SOL_SOCKET, SO_ERROR, &error, &nbytes), 0);
  EXPECT_EQ(error, ETIMEDOUT);
}

TEST(Cut, HandsOnWhatHasArrivedAndThenEnds) {
  const Socket own = listener();
  const Socket stranger = listener();
  const Connection in = connect_to(own);
  const Connection other = connect_to(stranger);
  ASSERT_EQ(send(in.caller.fd, "late", 4, 0), 4);
  pollfd readable{in.accepted.fd, POLLIN, 0};
  ASSERT_EQ(poll(&readable, 1, 10000), 1);
  const Address peer_address = name_of(stranger);  // of the interface of `own`, but not what `other` goes to and from
  const std::span<const std::byte> peers[] = {peer_address};
  const Address own_address = name_of(own);
  EXPECT_EQ(cut(own_address, peers), 2u) << "accepted at our end, and connected to the peer";
  char bytes[8];
  EXPECT_EQ(recv(in.accepted.fd, bytes, sizeof bytes, 0), 4);
  EXPECT_EQ(recv(in.accepted.fd, bytes, sizeof bytes, 0), 0) << "goes on";
  EXPECT_EQ(cut(own_address, {}), 0u);
  EXPECT_EQ(cut({}, peers), 0u);
}

TEST(LimitSilence, OtherSocketsOfTheSameInterfaceAreLeftAlone) {
  const Socket own = listener();
  const Socket peer = listener();
  const Socket stranger = listener();
  const Connection other = connect_to(stranger);
  const Address peer_address = name_of(peer);
  const std::span<const std::byte> peers[] = {peer_address};
  EXPECT_EQ(limit_silence(name_of(own), peers, 1234), 0u);
  EXPECT_EQ(limit_of(other.caller), 0u);
  EXPECT_FALSE(asks_when_idle(other.caller));
  EXPECT_EQ(limit_silence(name_of(own), {}, 1234), 0u);
  EXPECT_EQ(limit_silence({}, peers, 1234), 0u);
}

}  // namespace
}  // namespace railshmem::ofi
