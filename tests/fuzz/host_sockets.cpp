// SPDX-License-Identifier: BSD-3-Clause
// What processes of one host tell each other: tickets for file descriptors, messages that bring descriptors, and the
// first words at the sockets of those that give descriptors or answer.
#include "src/base/host_socket.h"

#include <fcntl.h>

#include <memory>

#include "src/base/error.h"
#include "src/base/fd_offers.h"
#include "src/base/mailbox.h"
#include "tests/fuzz/fuzz.h"

namespace railshmem {
namespace {

using fuzz::must;

/// The number of the next descriptor: it stays, unless somebody keeps one.
int next_fd() {
  const UniqueFd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return fd.get();
}

/// A ticket as a peer's descriptor brings it. No process of the machine is asked for a descriptor by its number.
void take_ticket(fuzz::Input input) {
  const auto ticket = std::make_unique<FdTicket>();  // on the heap, where its end is watched
  input.fill(std::as_writable_bytes(std::span(ticket.get(), 1)));
  const int next = next_fd();
  try {
    (void)take_fd(*ticket, FdWay::socket);
  } catch (const Error&) {
  }
  must(next_fd() == next, "a ticket that is refused leaves no descriptor open");
}

/// A message of some bytes with some descriptors.
void receive(fuzz::Input input) {
  const size_t nfds = input.u8() % 5;
  const size_t nbytes = input.u8() % 4;
  int ends[2];
  must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "there are sockets");
  UniqueFd ours(ends[0]), theirs(ends[1]);
  char bytes[4] = {};
  iovec part{bytes, nbytes};
  alignas(cmsghdr) char control[CMSG_SPACE(5 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (nfds > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(nfds * sizeof(int));
    for (size_t i = 0; i < nfds; ++i) std::memcpy(CMSG_DATA(header) + i * sizeof(int), &ends[1], sizeof(int));
  }
  (void)sendmsg(theirs.get(), &message, MSG_DONTWAIT);
  shutdown(theirs.get(), SHUT_WR);
  const int next = next_fd();
  {
    const UniqueFd fd = receive_fd(ours.get());
    must(!fd || nfds == 1, "only a message with one descriptor is taken");
  }
  must(next_fd() == next, "descriptors that nobody asked for are closed");
}

/// Says something to the owner of a socket and returns whether it answered. It has closed its end then.
bool answers(const std::array<char, 40>& name, const std::vector<std::byte>& words) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const AbstractAddress server(name);
  if (connect(fd.get(), server.get(), server.nbytes()) != 0) return false;
  (void)send(fd.get(), words.data(), words.size(), MSG_NOSIGNAL);
  shutdown(fd.get(), SHUT_WR);
  bool answered = false;
  char answer[64];
  for (ssize_t n = 1; n > 0;) {
    n = TEMP_FAILURE_RETRY(recv(fd.get(), answer, sizeof answer, 0));  // libFuzzer has a timer
    answered = answered || n > 0;
  }
  return answered;
}

/// The words for a socket; half of them begin with its key. Others may do so too: libFuzzer sees what they are compared
/// with.
std::vector<std::byte> words_for(const std::array<uint64_t, 2>& key, fuzz::Input& input) {
  const bool right = (input.u8() & 1) != 0;
  const std::vector<std::byte> words = input.all();
  return right ? fuzz::joined({std::as_bytes(std::span(key)), words}) : words;
}
bool have_key(const std::array<uint64_t, 2>& key, const std::vector<std::byte>& words) {
  return words.size() >= sizeof key && std::memcmp(words.data(), key.data(), sizeof key) == 0;
}

void ask_for_descriptor(fuzz::Input input) {
  static FdOffers offers;
  static const FdOffer offer = offers.offer(UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)));
  if (offer.ticket().socket[0] == '\0') return;  // this system allows no such socket
  const auto words = words_for(offer.ticket().key, input);
  if (have_key(offer.ticket().key, words))
    must(answers(offer.ticket().socket, words), "who has the key gets a descriptor");
  else
    must(!answers(offer.ticket().socket, words), "only who has the key gets a descriptor");
}

void write_to_mailbox(fuzz::Input input) {
  static Mailbox mailbox({.begin = {},
                          .answer = [](std::span<const std::byte> mail) { return Mail(mail.begin(), mail.end()); },
                          .woken = {}},
                         "fuzz-mailbox");
  if (mailbox.address().socket[0] == '\0') return;
  const auto words = words_for(mailbox.address().key, input);
  const bool says_more = words.size() > sizeof mailbox.address().key;  // the answer is what is said
  must(answers(mailbox.address().socket, words) == (have_key(mailbox.address().key, words) && says_more),
       "only who has the key gets an answer");
}

std::vector<fuzz::Data> seeds() {
  FdTicket plain, full;
  plain.pid = 1;
  plain.fd = 3;
  std::memcpy(plain.socket.data(), "railshmem-0123456789abcdef", 26);
  full.socket.fill('x');  // nothing ends the name, and no byte behind it is zero
  full.key = {~uint64_t{0}, ~uint64_t{0}};
  const auto ticket = [](const FdTicket& one) {
    return fuzz::joined({fuzz::seed(std::string_view("\0", 1)), std::as_bytes(std::span(&one, 1))});
  };
  return {ticket(plain),
          ticket(full),
          fuzz::seed("\1\1\1"),
          fuzz::seed("\1\2\1"),  // two descriptors
          fuzz::seed(std::string_view("\1\1\0", 3)),
          fuzz::seed("\2\1"),
          fuzz::seed("\2\1more"),
          fuzz::seed(std::string_view("\2\0 0123456789abcdef", 18)),
          fuzz::seed("\3\1hello"),
          fuzz::seed(std::string_view("\3\0 0123456789abcdef", 18))};
}

}  // namespace
}  // namespace railshmem

RAILSHMEM_FUZZ(host_sockets, railshmem::seeds) {
  using namespace railshmem;
  constexpr void (*kParts[])(fuzz::Input) = {take_ticket, receive, ask_for_descriptor, write_to_mailbox};
  kParts[input.u8() % std::size(kParts)](input);
}
