// SPDX-License-Identifier: BSD-3-Clause
// Strangers before a job that forms over tcp. The caller's words are sent by hand where no PE of ours would say them.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "bootstrap/tcp/greeting.h"
#include "bootstrap/tcp/pending_connections.h"
#include "bootstrap/tcp/random_bytes.h"
#include "bootstrap/tcp/socket.h"

namespace railshmem::tcp {
namespace {

const Secret kSecret("correct horse battery staple");
const Secret kOther("correct horse battery stable");

/// Pending connections on this host, and what happens to them while the test talks.
struct Host {
  explicit Host(const Secret& known) : secret(known) {
    listeners.push_back(listen_on(resolve("127.0.0.1", 0, "test").front()));
    address = local_address(listeners.front().get());
    pending = std::make_unique<PendingConnections>(std::move(listeners), join, secret);
  }
  Stream connect() const { return Stream(connect_to(address, Deadline(5))); }
  void look() {
    for (Arrival& arrival : pending->look()) {
      arrival.stream.push(noticed, arrival.proof);
      arrival.stream.pump();
      arrivals.push_back(std::move(arrival));
    }
  }
  /// What the host answers next; nothing when it ends the connection.
  std::optional<Frame> answer_to(Stream& stream) {
    for (int i = 0; i < 2000; ++i) {
      stream.pump();
      look();
      if (auto frame = stream.pop()) return frame;
      if (!stream.open()) return std::nullopt;
      usleep(1000);
    }
    ADD_FAILURE() << "no answer";
    return std::nullopt;
  }

  const Secret& secret;
  std::vector<UniqueFd> listeners;
  Address address{};
  std::unique_ptr<PendingConnections> pending;
  std::vector<Arrival> arrivals;
};

Bytes some_claim() {
  return Packer().add_text("a claim").take();
}

Reception introduce_to(Host& host, const Secret& secret, int port_error = 0) {
  Reception reception = Reception::silence;
  std::jthread caller([&] {
    Stream stream = host.connect();
    reception = introduce(stream, host.address.port() + port_error, join, some_claim(), secret, Deadline(10));
    stream.close();
  });
  for (int i = 0; i < 200; ++i) {
    host.look();
    usleep(1000);
  }
  caller.join();
  return reception;
}

TEST(TcpSecret, BothEndsMustKnowIt) {
  const Secret none;
  Host with(kSecret), without(none);
  EXPECT_EQ(introduce_to(with, kSecret), Reception::welcome);
  EXPECT_EQ(with.arrivals.size(), 1u);
  EXPECT_EQ(with.arrivals.front().claim, some_claim());
  EXPECT_EQ(introduce_to(with, kOther), Reception::denies_ours);
  EXPECT_EQ(introduce_to(with, none), Reception::asks_secret);
  EXPECT_EQ(with.arrivals.size(), 1u) << "who does not know the secret does not get in";
  EXPECT_EQ(introduce_to(without, kSecret), Reception::lacks_secret);
  EXPECT_EQ(introduce_to(without, none), Reception::welcome);
}

TEST(TcpSecret, AProofOfAnotherPortIsNone) {
  Host host(kSecret);
  EXPECT_EQ(introduce_to(host, kSecret, 1), Reception::denies_ours) << "somebody on the next port passes it on";
}

struct Words {
  Nonce nonce = random_bytes<Nonce>();
  Frame greeting() const { return {join, Packer().add(nonce).add(Want::proof).add_bytes(some_claim()).take()}; }
  Digest proof(Host& host, const Frame& asked, End end = End::caller) const {
    Encounter encounter{join, static_cast<uint16_t>(host.address.port()), nonce, {}, some_claim()};
    encounter.listener = Unpacker(asked.payload).get<Nonce>();
    return kSecret.proof(end, encounter);
  }
};

TEST(TcpSecret, AReplayedAnswerIsDenied) {
  Host host(kSecret);
  const Words words;
  Stream first = host.connect();
  first.push(join, words.greeting().payload);
  const auto asked = host.answer_to(first);
  ASSERT_TRUE(asked && asked->kind == challenge);
  const Digest answer = words.proof(host, *asked);
  first.push(proof, Packer().add(answer).take());
  const auto last = host.answer_to(first);
  ASSERT_TRUE(last && last->kind == noticed);
  ASSERT_EQ(host.arrivals.size(), 1u);
  // Every byte that was said, once more.
  Stream second = host.connect();
  second.push(join, words.greeting().payload);
  second.push(proof, Packer().add(answer).take());
  const auto asked_again = host.answer_to(second);
  ASSERT_TRUE(asked_again && asked_again->kind == challenge);
  EXPECT_NE(asked->payload, asked_again->payload);
  const auto verdict = host.answer_to(second);
  ASSERT_TRUE(verdict && verdict->kind == denied);
  EXPECT_EQ(host.arrivals.size(), 1u);
}

TEST(TcpSecret, TheListenersOwnProofIsNoAnswer) {
  Host host(kSecret);
  const Words words;
  Stream stream = host.connect();
  stream.push(join, words.greeting().payload);
  const auto asked = host.answer_to(stream);
  ASSERT_TRUE(asked && asked->kind == challenge);
  stream.push(proof, Packer().add(words.proof(host, *asked, End::listener)).take());
  const auto verdict = host.answer_to(stream);
  ASSERT_TRUE(verdict && verdict->kind == denied);
}

TEST(TcpSecret, AFileMustBeItsOwnersAlone) {
  char path[] = "/tmp/railshmem_secret_XXXXXX";
  const UniqueFd fd(mkstemp(path));
  ASSERT_TRUE(fd);
  const auto env_with_file = [&path](const char* name) -> const char* {
    return std::string_view(name) == "SHMEM_TCP_SECRET_FILE" ? path : nullptr;
  };
  const Env env = Env::parse(env_with_file);
  const auto complaint = [&] {
    try {
      secret_of(env);
      return std::string();
    } catch (const Error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_NE(complaint().find("holds 0 characters"), std::string::npos) << complaint();
  ASSERT_EQ(write(fd.get(), "a secret of twenty-some characters\n", 35), 35);
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(secret_of(env).bytes(), "a secret of twenty-some characters");
  for (const mode_t mode : {0640u, 0604u, 0620u}) {
    ASSERT_EQ(fchmod(fd.get(), mode), 0);
    EXPECT_NE(complaint().find("chmod 600"), std::string::npos) << complaint();
    EXPECT_NE(complaint().find(path), std::string::npos) << complaint();
  }
  unlink(path);
  EXPECT_NE(complaint().find("cannot be opened"), std::string::npos) << complaint();
}

TEST(TcpPendingConnections, NineHundredSilentOnesKeepNobodyOut) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);  // they are ours as well as the host's
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  Host host(kSecret);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 900; ++i) {
    silent.push_back(connect_to(host.address, Deadline(5)));
    ASSERT_TRUE(silent.back()) << i;
    if (i % 50 == 0) host.look();
  }
  for (int i = 0; i < 10; ++i) host.look();
  EXPECT_LE(host.pending->strangers(), host.pending->capacity());
  EXPECT_LE(host.pending->capacity(), 256u);
  EXPECT_EQ(introduce_to(host, kSecret), Reception::welcome);
}

TEST(TcpPendingConnections, TheSilentLeaveAfterSeconds) {
  Host host(kSecret);
  Stream silent = host.connect();
  for (int i = 0; i < 100 && host.pending->strangers() == 0; ++i) host.look();
  ASSERT_EQ(host.pending->strangers(), 1u);
  const uint64_t began = now_ns();
  while (host.pending->strangers() > 0 && now_ns() - began < 20'000'000'000) {
    host.look();
    usleep(100'000);
  }
  EXPECT_EQ(host.pending->strangers(), 0u);
  EXPECT_GE(now_ns() - began, 4'000'000'000u);
}

TEST(TcpPendingConnections, MessagesOfStrangersAreFew) {
  const Secret none;
  Host host(none);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 50; ++i) {
    Stream stranger = host.connect();
    stranger.push(seat, Bytes(20));
    EXPECT_FALSE(host.answer_to(stranger).has_value());
  }
  host.pending.reset();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
  EXPECT_NE(said.find("a connection from 127.0.0.1:"), std::string::npos) << said;
  EXPECT_NE(said.find("49 more connections were dropped"), std::string::npos) << said;
}

}  // namespace
}  // namespace railshmem::tcp
