// SPDX-License-Identifier: BSD-3-Clause
// A tcp job among strangers: connections to PE 0 and to a parent, what answers a PE that looks for PE 0, seats and
// unique ids; and the exchanges of a job whose other PEs say anything.
#include <sys/socket.h>
#include <unistd.h>

#include "bootstrap/tcp/greeting.h"
#include "bootstrap/tcp/id.h"
#include "bootstrap/tcp/membership.h"
#include "bootstrap/tcp/rendezvous.h"
#include "bootstrap/tcp/tcp_bootstrap.h"
#include "src/base/log.h"
#include "tests/fuzz/fuzz.h"

namespace railshmem::tcp {
namespace {

using fuzz::must;

constexpr int kNpes = 20;
constexpr Key kTreeKey{9, 9, 9};

/// One end for the library, the other one for words from the input.
struct Pair {
  Stream ours, theirs;
  Pair() {
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "there are sockets");
    ours = Stream(UniqueFd(ends[0]));
    theirs = Stream(UniqueFd(ends[1]));
  }
  UniqueFd take_fd() {
    UniqueFd fd(dup(ours.fd()));
    ours.abandon();
    return fd;
  }
};

const Secret& a_secret(bool any) {
  static const Secret none, some("correct horse battery staple");
  return any ? some : none;
}

/// A message: its kind, its length, its bytes.
Frame a_frame(fuzz::Input& input) {
  const uint32_t kind = join + input.u8() % 14u;
  const size_t nbytes = input.u8();
  return {kind, input.bytes(nbytes)};
}

void say(Stream& stream, fuzz::Input& input) {
  Frame frame = a_frame(input);
  stream.push(frame.kind, std::move(frame.payload));
  stream.pump_output();
}

Meeting meeting_of_root(const Secret& secret) {
  Meeting meeting{};
  meeting.npes = kNpes;
  meeting.timeout_s = 30;
  meeting.place = "the fuzz target";
  meeting.secret = secret;
  return meeting;
}

void visit_root(fuzz::Input input) {
  const Secret& secret = a_secret((input.u8() & 1) != 0);
  const Meeting meeting = meeting_of_root(secret);
  Rendezvous rendezvous(meeting, {});
  std::vector<Pair> open;
  for (int i = 0; !input.empty() && i < 64; ++i) {
    const uint8_t who = input.u8();
    if (open.empty() || who % 4 == 0) {
      open.emplace_back();
      rendezvous.pending().admit(open.back().take_fd());
    }
    Pair& pair = open[(who >> 2) % open.size()];
    if (who % 4 == 1) pair.theirs.close();
    say(pair.theirs, input);
    rendezvous.step(0);
    must(rendezvous.pending().strangers() <= rendezvous.pending().capacity(), "pending connections have a limit");
    must(secret.empty() || rendezvous.missing().size() == kNpes - 1u, "nobody takes a rank without the secret");
  }
  open.clear();
  rendezvous.step(0);
  rendezvous.step(0);
  must(rendezvous.missing().size() == kNpes - 1u, "who has left holds no rank");
}

void visit_parent(fuzz::Input input) {
  const Secret& secret = a_secret((input.u8() & 1) != 0);
  PendingConnections pending({}, child, secret);
  std::vector<Pair> open;
  for (int i = 0; !input.empty() && i < 32; ++i) {
    open.emplace_back();
    pending.admit(open.back().take_fd());
    say(open.back().theirs, input);
    for (const Arrival& arrival : pending.look()) {
      must(secret.empty(), "nobody arrives without the secret");
      const int pe = child_named_in(arrival.claim, kTreeKey);
      must(pe == -1 || arrival.claim.size() == sizeof(Key) + sizeof(int), "a child says its key and its number");
    }
  }
}

void answer_member(fuzz::Input input) {
  const Secret& secret = a_secret((input.u8() & 1) != 0);
  Pair pair;
  while (!input.empty()) say(pair.theirs, input);
  pair.theirs.flush(1);
  shutdown(pair.theirs.fd(), SHUT_WR);
  const Reception reception = introduce(pair.ours, 1, join, {}, secret, Deadline(5));
  must(reception != Reception::welcome || secret.empty(), "nobody proves what it does not know");
  (void)explain(reception);
  const auto frame = next_frame(pair.ours, Deadline(5));
  if (!frame) return;
  try {
    const Seat seat = read_seat(frame->payload, kNpes);
    must(seat.parent >= 0 && seat.parent < kNpes, "a parent is of the job");
    (void)seat.parent_address.text();
  } catch (const Error&) {
  }
}

void read_id(fuzz::Input input) {
  std::array<std::byte, kIdSize> bytes{};
  input.fill(bytes);
  try {
    const Id id = unpack_id(bytes);
    must(!id.addresses.empty() && id.addresses.front().port() > 0, "an id has an address and a port");
    for (const Address& address : id.addresses) (void)address.text();
    std::array<std::byte, kIdSize> again{};
    const Bytes packed = pack_id(id);
    must(packed.size() <= kIdSize, "an id has room for what it holds");
    std::copy(packed.begin(), packed.end(), again.begin());
    must(pack_id(unpack_id(again)) == packed, "an id comes back as it was");
  } catch (const Error&) {
  }
}

/// PE 1 has PE 0 above and PEs 17 to 19 below, all of whose words are there before it begins. It exchanges, or looks
/// for news; an end of the job that it hears in an exchange would end this process.
void exchange_with(fuzz::Input input) {
  const bool exchanges = (input.u8() & 1) == 0;
  std::vector<Pair> pairs(4);
  std::vector<Neighbour> neighbours;
  while (!input.empty()) {
    Stream& theirs = pairs[input.u8() % pairs.size()].theirs;
    Frame frame = a_frame(input);
    if (exchanges && frame.kind == abort) continue;
    theirs.push(frame.kind, std::move(frame.payload));
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].theirs.pump_output();
    must(!pairs[i].theirs.has_output(), "a socket takes one input");
    shutdown(pairs[i].theirs.fd(), SHUT_WR);
    neighbours.push_back({i == 0 ? 0 : static_cast<int>(16 + i), std::move(pairs[i].ours)});
  }
  try {
    TcpBootstrap bootstrap(1, kNpes, 5.0, std::move(neighbours));
    const std::vector<std::byte> mine(8, std::byte{1});
    std::vector<std::byte> all(mine.size() * kNpes);
    for (int i = 0; i < 3 && exchanges; ++i) bootstrap.allgather(mine, all);
    for (int i = 0; i < 3; ++i) (void)bootstrap.end_told();
    (void)bootstrap.failure();
  } catch (const Error&) {
  }
}

fuzz::Data words(uint8_t part, uint8_t first, std::initializer_list<std::pair<int, Frame>> frames, bool with_who) {
  Packer out;
  out.add(part);
  if (part != 3) out.add(first);
  for (const auto& [who, frame] : frames) {
    if (with_who) out.add(static_cast<uint8_t>(who));
    out.add(static_cast<uint8_t>(frame.kind - join)).add(static_cast<uint8_t>(frame.payload.size()));
    out.add_bytes(frame.payload);
  }
  return out.take();
}

std::vector<fuzz::Data> seeds() {
  Address address = any_address(AF_INET, 29500);
  Packer claim, a_seat;
  claim.add(Nonce{}).add(Want::nothing).add(Key{}).add(3).add(kNpes);
  pack(claim, address);
  claim.add_text("host node1, pid 4711");
  const Frame greeting{join, claim.take()};
  a_seat.add(kTreeKey).add(1);
  pack(a_seat, address);
  const Frame a_child{child, Packer().add(Nonce{}).add(Want::nothing).add(kTreeKey).add(17).take()};
  const Frame part{up, Packer().add(uint64_t{8}).add(uint64_t{5}).take()};
  const Frame whole{down, Bytes(8 * kNpes, std::byte{2})};
  const Frame death{notice, Packer().add_text("PE 18 has died").take()};
  const Frame end{abort, Packer().add(3).add_text("why").take()};
  const Id id{KeyUse::proven, kTreeKey, {address, any_address(AF_INET6, 29500)}};
  return {words(0, 0, {{0, greeting}, {2, {here, {}}}}, true),
          words(0, 1, {{0, greeting}, {2, {proof, Packer().add(Digest{}).take()}}}, true),
          words(1, 0, {{0, a_child}}, false),
          words(2, 0, {{0, {noticed, {}}}, {0, {seat, a_seat.take()}}}, false),
          words(2, 1, {{0, {challenge, Packer().add(Nonce{}).take()}}, {0, {noticed, Packer().add(Digest{}).take()}}},
                false),
          fuzz::joined({fuzz::seed("\3"), pack_id(id)}),
          words(4, 0, {{1, part}, {2, part}, {3, part}, {0, whole}, {1, {goodbye, {}}}}, true),
          words(4, 0, {{1, part}, {2, death}, {3, part}}, true),
          words(4, 1, {{0, end}, {1, {goodbye, {}}}, {2, death}}, true)};
}

}  // namespace
}  // namespace railshmem::tcp

RAILSHMEM_FUZZ(tcp, railshmem::tcp::seeds) {
  railshmem::set_log_level(railshmem::LogLevel::error);
  using namespace railshmem::tcp;
  constexpr void (*kParts[])(railshmem::fuzz::Input) = {visit_root, visit_parent, answer_member, read_id,
                                                        exchange_with};
  kParts[input.u8() % std::size(kParts)](input);
}
