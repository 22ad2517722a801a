// SPDX-License-Identifier: BSD-3-Clause
// What oshrun, its relays and its PEs say to each other: frames, orders, a relay's messages up to the exchange of PEs,
// and a PE whose launcher says anything.
#include <sys/socket.h>
#include <sys/wait.h>

#include "bootstrap/local/local_bootstrap.h"
#include "bootstrap/local/oshrun/allgather.h"
#include "bootstrap/local/oshrun/relay_protocol.h"
#include "bootstrap/local/oshrun/relay_talk.h"
#include "bootstrap/local/oshrun/verdict.h"
#include "bootstrap/local/protocol.h"
#include "tests/fuzz/fuzz.h"

namespace railshmem::oshrun {
namespace {

using fuzz::must;

constexpr int kFirst = 2, kCount = 3, kNpes = 6;

ProcessGroupOrder an_order() {
  return {.first = kFirst,
          .count = kCount,
          .npes = kNpes,
          .output = Output::captured,
          .bind = Bind::core,
          .report = Report::places,
          .environment = {{"PATH", "/bin"}, {"EMPTY", ""}},
          .directory = "/tmp",
          .command = {"program", "-x", ""}};
}

void read_orders(fuzz::Input input) {
  try {
    const ProcessGroupOrder order = relay::unpack_order(input.all());
    must(order.count > 0 && order.first >= 0 && order.count <= order.npes - order.first && !order.command.empty(),
         "an order names PEs of the job and a program");
    must(relay::pack(relay::unpack_order(relay::pack(order))) == relay::pack(order), "an order comes back as it was");
  } catch (const Error&) {
  }
}

void read_messages_to_pes(fuzz::Input input) {
  try {
    const auto message = relay::unpack_to_pe(input.all(), an_order());
    must(message.pe == relay::kEveryPe || (message.pe >= kFirst && message.pe < kFirst + kCount), "the PE is here");
  } catch (const Error&) {
  }
}

/// As oshrun's Job does, which counts PEs down and has arrays of them.
void follow_relay(fuzz::Input input) {
  RelayTalk talk(kFirst, kCount);
  Allgather allgather(kNpes);
  std::vector<bool> running(kNpes, true);
  try {
    while (!input.empty()) {
      const uint32_t kind = relay::ready + input.u8() % 12u;
      const size_t nbytes = input.u8();
      const Frame frame{kind, input.bytes(nbytes)};
      RelayMessage said = talk.read(frame);
      if (said.pe < 0) continue;
      must(said.pe >= kFirst && said.pe < kFirst + kCount, "a relay speaks for its own PEs");
      const auto pe = static_cast<size_t>(said.pe);
      if (kind == relay::exited) {
        must(running[pe], "a PE ends once");
        running[pe] = false;
        allgather.leave(said.pe);
        (void)describe(said.number);
        (void)allgather.stuck();
      } else if (kind == relay::from_pe) {
        must(running[pe], "a PE that has ended says nothing");
        if (allgather.contribute(said.pe, std::move(said.message.payload))) must(false, "all PEs must contribute");
        (void)allgather.missing();
      }
    }
  } catch (const Error&) {
  }
}

struct Ends {
  UniqueFd ours, theirs;
  Ends() {
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "there are sockets");
    ours = UniqueFd(ends[0]);
    theirs = UniqueFd(ends[1]);
  }
};

/// However bytes arrive, the frames are the same.
void cut_frames(fuzz::Input input) {
  const bool distrusts = (input.u8() & 1) != 0;
  const size_t step = input.u8() + size_t{1};
  const std::vector<std::byte> all = input.all();
  std::vector<Frame> first;
  for (const size_t cut : {all.size(), step}) {
    Ends ends;
    Stream stream(std::move(ends.ours));
    if (distrusts) stream.distrust(64);
    std::vector<Frame> frames;
    for (size_t at = 0; at < all.size() && stream.open(); at += cut) {
      const size_t n = std::min(cut, all.size() - at);
      must(send(ends.theirs.get(), all.data() + at, n, MSG_DONTWAIT) == static_cast<ssize_t>(n),
           "a socket takes one input");
      for (bool more = true; more;) {
        stream.pump();
        more = false;
        while (auto frame = stream.pop()) frames.push_back(std::move(*frame)), more = true;
      }
    }
    if (cut == all.size()) {
      first = std::move(frames);
      continue;
    }
    must(frames.size() == first.size(), "frames do not depend on how bytes arrive");
    for (size_t i = 0; i < frames.size(); ++i)
      must(frames[i].kind == first[i].kind && frames[i].payload == first[i].payload, "frames are whole");
  }
}

/// What the launcher says is in the socket before the PE begins, and nothing follows.
void start_pe(fuzz::Input input) {
  constexpr int kFd = 901;
  Ends ends;
  must(dup2(ends.ours.get(), kFd) == kFd, "there are descriptors");
  ends.ours.reset();
  const UniqueFd inherited(kFd);
  const size_t waits = input.u8() % 4;
  Stream launcher(std::move(ends.theirs));
  while (!input.empty()) {
    const uint32_t kind = local::welcome + input.u8() % 8u;
    const size_t nbytes = input.u8();
    Bytes payload = input.bytes(nbytes);
    if (kind != local::end) launcher.push(kind, std::move(payload));  // it ends this process, as it should
  }
  launcher.pump_output();
  shutdown(launcher.fd(), SHUT_WR);
  try {
    LocalBootstrap bootstrap(1.0);
    const std::vector<std::byte> mine(8, std::byte{7});
    std::vector<std::byte> all(mine.size() * static_cast<size_t>(bootstrap.npes()));
    for (size_t i = 0; i < waits; ++i) bootstrap.allgather(mine, all);
    (void)bootstrap.failure();
    (void)bootstrap.dead_pes();
    (void)bootstrap.told_to_end();
  } catch (const Error&) {
  }
}

fuzz::Data framed(char what, std::initializer_list<Frame> frames) {
  Packer out;
  out.add(what);
  if (what == 3) out.add(uint8_t{1}).add(uint8_t{5});
  if (what == 4) out.add(uint8_t{1});
  for (const Frame& frame : frames) {
    if (what == 3)
      out.add(uint32_t{0x4c494152}).add(frame.kind).add(static_cast<uint64_t>(frame.payload.size()));
    else
      out.add(static_cast<uint8_t>(frame.kind)).add(static_cast<uint8_t>(frame.payload.size()));
    out.add_bytes(frame.payload);
  }
  return out.take();
}

std::vector<fuzz::Data> seeds() {
  const Bytes contribution = Packer().add(kFirst).add(local::contribute).add(uint64_t{5}).take();
  const Bytes end = Packer().add(kFirst).add(pid_t{4711}).add(9).take();
  return {
      fuzz::joined({fuzz::seed(std::string_view("\0", 1)), relay::pack(an_order())}),
      Packer().add(char{1}).add(kFirst + 1).add(uint32_t{5}).add_text("why").take(),
      framed(2, {{0, Packer().add_text("0.2.0").take()},
                 {1, contribution},
                 {3, end},
                 {5, Packer().add_text("a note").take()}}),
      framed(2,
             {{0, Packer().add_text("0.2.0").take()}, {4, Packer().add(1).add_text("why").take()}, {6, {}}, {7, {}}}),
      framed(2, {{0, Packer().add_text("0.2.0").take()}, {2, Packer().add(kFirst).add(1).add_text("out").take()}}),
      framed(3, {{5, Bytes(3, std::byte{1})}, {6, {}}, {7, Bytes(70, std::byte{2})}}),
      // A frame that announces 1 TiB, of which little comes.
      Packer()
          .add(char{3})
          .add(uint8_t{0})
          .add(uint8_t{9})
          .add(uint32_t{0x4c494152})
          .add(5)
          .add(uint64_t{1} << 40)
          .add(7)
          .take(),
      framed(4, {{0, {}}, {1, Bytes(24, std::byte{3})}}),
      framed(4, {{0, {}}, {4, Packer().add_text("PE 2 has died").take()}, {5, Packer().add(2).take()}, {3, {}}})};
}

}  // namespace
}  // namespace railshmem::oshrun

RAILSHMEM_FUZZ(launcher, railshmem::oshrun::seeds) {
  setenv("RAILSHMEM_LAUNCHER_FD", "901", 1);
  setenv("RAILSHMEM_LAUNCHER_PE", "1", 1);
  setenv("RAILSHMEM_LAUNCHER_NPES", "3", 1);
  using namespace railshmem::oshrun;
  constexpr void (*kParts[])(railshmem::fuzz::Input) = {read_orders, read_messages_to_pes, follow_relay, cut_frames,
                                                        start_pe};
  kParts[input.u8() % std::size(kParts)](input);
}
