// SPDX-License-Identifier: BSD-3-Clause
// 100,000 messages of strangers to a job that forms over tcp: to PE 0, to a PE that waits for its children, and as
// answers to one that looks for PE 0. Each is built as ours are and then bent, from a fixed seed.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "bootstrap/tcp/greeting.h"
#include "bootstrap/tcp/membership.h"
#include "bootstrap/tcp/rendezvous.h"
#include "bootstrap/tcp/socket.h"
#include "src/base/log.h"

namespace railshmem::tcp {
namespace {

constexpr int kNpes = 5;

class Strangers {
 public:
  explicit Strangers(uint64_t seed) : random_(seed) {}

  uint64_t number(uint64_t below) { return random_() % below; }
  bool one_in(uint64_t n) { return number(n) == 0; }

  Bytes noise(size_t most) {
    Bytes out(number(most + 1));
    for (std::byte& byte : out) byte = static_cast<std::byte>(random_());
    return out;
  }
  int some_int() {
    constexpr int kEdges[] = {0, 1, 2, kNpes - 1, kNpes, -1, 1 << 30, -2147483647 - 1, 2147483647};
    return one_in(4) ? static_cast<int>(random_()) : kEdges[number(std::size(kEdges))];
  }
  std::string some_text() {
    constexpr const char* kTexts[] = {"host node1, pid 4711", "", "\x1b]0;owned\x07",
                                      "x\nrailshmem: PE 0: error: forged", "%s%n%n%n"};
    return one_in(8) ? std::string(number(5000), 'w') : kTexts[number(std::size(kTexts))];
  }
  void add_address(Packer& packer) {
    packer.add(static_cast<uint8_t>(one_in(3) ? random_() : one_in(2) ? 4 : 6)).add(static_cast<uint16_t>(random_()));
    packer.add_bytes(noise(0)).add(std::array<uint8_t, 16>{127, 0, 0, 1});
  }
  void add_key(Packer& packer) { packer.add(one_in(3) ? Key{1} : Key{}); }

  /// The payload of a message of this kind, whole.
  Bytes payload_of(uint32_t kind) {
    Packer packer;
    if (kind == join) {
      packer.add(Nonce{}).add(static_cast<uint8_t>(one_in(5)));
      add_key(packer);
      packer.add(some_int()).add(one_in(2) ? kNpes : some_int());
      add_address(packer);
      packer.add_text(some_text());
    } else if (kind == child) {
      packer.add(Nonce{}).add(static_cast<uint8_t>(one_in(5)));
      add_key(packer);
      packer.add(some_int());
    } else if (kind == seat) {
      add_key(packer);
      packer.add(some_int());
      add_address(packer);
    } else if (kind == challenge || kind == proof || kind == noticed) {
      packer.add(Nonce{});
    } else if (kind == refused || kind == notice) {
      packer.add_text(some_text());
    }
    return packer.take();
  }
  void bend(Bytes& payload) {
    if (one_in(3)) return;
    if (one_in(4)) return payload.resize(number(payload.size() + 1));
    if (one_in(4)) return (void)payload.insert(payload.end(), number(300), std::byte{7});
    for (uint64_t i = number(8); i > 0 && !payload.empty(); --i)
      payload[number(payload.size())] = static_cast<std::byte>(random_());
  }
  /// A framed message as bytes; the frame itself may lie.
  Bytes message(uint32_t usual_kind) {
    const uint32_t kind = one_in(3) ? join + static_cast<uint32_t>(number(14)) : usual_kind;
    Bytes payload = payload_of(kind);
    bend(payload);
    uint64_t nbytes = payload.size();
    if (one_in(10)) nbytes = one_in(2) ? random_() : number(10000);
    const uint32_t magic = one_in(20) ? static_cast<uint32_t>(random_()) : 0x4c494152;
    return Packer()
        .add(magic)
        .add(one_in(50) ? static_cast<uint32_t>(random_()) : kind)
        .add(nbytes)
        .add_bytes(payload)
        .take();
  }

 private:
  std::mt19937_64 random_;
};

/// One end for the library, the other with the words of a stranger already in it.
struct Pair {
  UniqueFd ours, theirs;
  Pair() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    ours = UniqueFd(ends[0]);
    theirs = UniqueFd(ends[1]);
  }
  void say(const Bytes& message) const {
    [[maybe_unused]] const ssize_t n = send(theirs.get(), message.data(), message.size(), MSG_NOSIGNAL);
  }
};

Meeting meeting_of(int pe, const Secret& secret, const Address& at) {
  Meeting meeting{};
  meeting.pe = pe;
  meeting.npes = kNpes;
  meeting.timeout_s = 30;
  meeting.addresses = {at};
  meeting.first_port = at.port();
  meeting.nports = 1;
  meeting.place = "the fuzz test";
  meeting.secret = secret;
  return meeting;
}

/// After all that, the job still forms.
void form_job(Rendezvous& rendezvous, const Secret& secret, const Address& at) {
  std::vector<std::jthread> members;
  std::atomic<size_t> met{0};
  for (int pe = 1; pe < kNpes; ++pe)
    members.emplace_back([&, pe] { met += meet_as_member(meeting_of(pe, secret, at)).size(); });
  rendezvous.wait_for_all();
  EXPECT_EQ(rendezvous.hand_out_seats().size(), kNpes - 1u);
  members.clear();
  EXPECT_EQ(met, kNpes - 1u);
}

size_t fuzz_root(const Secret& secret, size_t messages) {
  Strangers strangers(20261123);
  std::vector<UniqueFd> listeners;
  listeners.push_back(listen_on(resolve("127.0.0.1", 0, "test").front()));
  const Address at = local_address(listeners.front().get());
  const Meeting meeting = meeting_of(0, secret, at);
  Rendezvous rendezvous(meeting, std::move(listeners));
  std::vector<Pair> open;
  size_t said = 0;
  while (said < messages) {
    open.emplace_back();
    Pair& pair = open.back();
    pair.say(strangers.message(join));
    rendezvous.pending().admit(std::move(pair.ours));
    rendezvous.step(0);
    for (uint64_t more = strangers.number(3); more > 0; --more, ++said) {
      open[strangers.number(open.size())].say(strangers.message(proof));
      rendezvous.step(0);
    }
    ++said;
    EXPECT_LE(rendezvous.pending().strangers(), rendezvous.pending().capacity());
    if (!secret.empty()) {
      EXPECT_EQ(rendezvous.missing().size(), kNpes - 1u) << "a stranger has taken a rank";
    }
    if (strangers.one_in(3)) open.erase(open.begin() + static_cast<ptrdiff_t>(strangers.number(open.size())));
    if (open.size() > 40) open.clear();
  }
  open.clear();
  rendezvous.step(0);
  form_job(rendezvous, secret, at);
  return said;
}

TEST(TcpFuzz, PeZeroOutlivesStrangers) {
  const LogLevel usual = LogLevel::warn;
  set_log_level(LogLevel::error);
  EXPECT_GE(fuzz_root(Secret(), 25'000), 25'000u);
  EXPECT_GE(fuzz_root(Secret("correct horse battery staple"), 25'000), 25'000u);
  set_log_level(usual);
}

TEST(TcpFuzz, AParentTakesNoStrangerForAChild) {
  set_log_level(LogLevel::error);
  Strangers strangers(20261124);
  const Key tree_key{9, 9, 9};
  for (const Secret& secret : {Secret(), Secret("correct horse battery staple")}) {
    PendingConnections pending({}, child, secret);
    std::vector<Pair> open;
    for (int i = 0; i < 12'500; ++i) {
      open.emplace_back();
      open.back().say(strangers.message(child));
      pending.admit(std::move(open.back().ours));
      for (const Arrival& arrival : pending.look()) {
        EXPECT_TRUE(secret.empty());
        EXPECT_EQ(child_named_in(arrival.claim, tree_key), -1);
      }
      if (open.size() > 40) open.clear();
    }
  }
  set_log_level(LogLevel::warn);
}

TEST(TcpFuzz, AMemberOutlivesWhatAnswersItself) {
  Strangers strangers(20261125);
  size_t welcomes = 0;
  for (const Secret& secret : {Secret(), Secret("correct horse battery staple")}) {
    for (int i = 0; i < 6'250; ++i) {
      Pair pair;
      pair.say(strangers.message(strangers.one_in(2) ? challenge : noticed));
      pair.say(strangers.message(strangers.one_in(2) ? noticed : seat));
      pair.theirs.reset();
      Stream stream(std::move(pair.ours));
      const bool welcome = introduce(stream, 1, join, {}, secret, Deadline(0)) == Reception::welcome;
      welcomes += welcome;
      EXPECT_FALSE(welcome && !secret.empty()) << "a stranger has proven what it does not know";
      const auto frame = next_frame(stream, Deadline(0));
      if (!frame) continue;
      try {
        const Seat seat = read_seat(frame->payload, kNpes);
        EXPECT_TRUE(seat.parent >= 0 && seat.parent < kNpes);
      } catch (const Error&) {  // named, not fatal: what the member says of whoever holds the port
      }
    }
  }
  EXPECT_GT(welcomes, 100u) << "the messages are too far from ours to test much";
}

}  // namespace
}  // namespace railshmem::tcp
