// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>

#include "bootstrap/local/oshrun/allgather.h"
#include "bootstrap/local/oshrun/hosts.h"
#include "bootstrap/local/oshrun/line_tagger.h"
#include "bootstrap/local/oshrun/needed.h"
#include "bootstrap/local/oshrun/options.h"
#include "bootstrap/local/oshrun/own_host.h"
#include "bootstrap/local/oshrun/relay_protocol.h"
#include "bootstrap/local/oshrun/relay_talk.h"
#include "bootstrap/local/oshrun/verdict.h"
#include "src/base/fds.h"

namespace railshmem::oshrun {
namespace {

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "oshrun");
  return parse_options(static_cast<int>(words.size()), words.data());
}

using Words = std::vector<std::string>;

TEST(OshrunNeeded, NamesTheLibrariesOfThisProgram) {
  const std::string self = read_file("/proc/self/exe");
  const auto names = needed_libraries(std::as_bytes(std::span(self)));
  const auto is_libc = [](const std::string& name) { return name.starts_with("libc.so"); };
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), is_libc)) << names.size();
  EXPECT_EQ(foreign_openshmem("/proc/self/exe"), "");
}

TEST(OshrunNeeded, DamagedFilesNeedNothingOrNamesOfTheFile) {
  const std::string self = read_file("/bin/true");
  const auto bytes = std::as_bytes(std::span(self));
  ASSERT_FALSE(needed_libraries(bytes).empty());
  for (size_t length = 0; length < bytes.size(); length += 1 + length / 16) needed_libraries(bytes.first(length));
  for (size_t at = 0; at < 4096; ++at) {
    std::string damaged = self;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
    for (const std::string& name : needed_libraries(std::as_bytes(std::span(damaged))))
      EXPECT_LE(name.size(), self.size());
  }
  EXPECT_TRUE(needed_libraries(std::as_bytes(std::span("#!/bin/sh"))).empty());
}

TEST(OshrunOptions, StopAtTheProgramName) {
  const Parsed parsed = parse({"-n", "4", "--tag-output", "prog", "-n", "5", "--timeout", "3", "--", "x"});
  ASSERT_EQ(parsed.message, "");
  EXPECT_EQ(parsed.options.npes, 4);
  EXPECT_TRUE(parsed.options.tag_output);
  EXPECT_EQ(parsed.options.timeout_s, 0);
  EXPECT_EQ(parsed.options.command, (Words{"prog", "-n", "5", "--timeout", "3", "--", "x"}));
}

TEST(OshrunOptions, DoubleDashEndsOptions) {
  EXPECT_EQ(parse({"-n", "2", "--", "-odd", "a"}).options.command, (Words{"-odd", "a"}));
}

TEST(OshrunOptions, EnvironmentKeepsEqualSigns) {
  const Parsed parsed = parse({"-n", "1", "-x", "A=b=c", "--env", "B=", "prog"});
  ASSERT_EQ(parsed.message, "");
  ASSERT_EQ(parsed.options.environment.size(), 2u);
  EXPECT_EQ(parsed.options.environment[0], (std::pair<std::string, std::string>("A", "b=c")));
  EXPECT_EQ(parsed.options.environment[1], (std::pair<std::string, std::string>("B", "")));
}

TEST(OshrunOptions, MistakesAreExplained) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{},
                                                {"prog"},
                                                {"-n", "0", "prog"},
                                                {"-n", "x", "prog"},
                                                {"-n", "2"},
                                                {"-n", "2", "--bogus", "prog"},
                                                {"-n", "2", "-x", "=1", "prog"},
                                                {"-n", "2", "-x", "NAME", "prog"},
                                                {"-n", "2", "--timeout", "-1", "prog"}}) {
    const Parsed parsed = parse(words);
    EXPECT_NE(parsed.message, "");
    EXPECT_EQ(parsed.exit_status, 2) << parsed.message;
  }
  EXPECT_EQ(parse({"--help"}).exit_status, 0);
  EXPECT_NE(parse({"--help"}).message, "");
}

TEST(OshrunOptions, OneThatIsRepeatedIsNamed) {
  EXPECT_EQ(parse({"-n", "2", "-n", "3", "prog"}).message, "oshrun: option -n,--np is given 2 times; give it once\n");
  EXPECT_EQ(parse({"-n", "2", "--timeout", "3", "--timeout", "4", "prog"}).message,
            "oshrun: option --timeout is given 2 times; give it once\n");
}

TEST(OshrunOptions, ThoseOfOtherLaunchersAreExplained) {
  EXPECT_NE(parse({"--mca", "btl", "tcp", "-n", "2", "prog"}).message.find("unknown option --mca; Open MPI has it"),
            std::string::npos);
  EXPECT_NE(parse({"-n", "2", "--oversubscribe", "prog"}).message.find("leave it out"), std::string::npos);
  EXPECT_NE(parse({"-n", "2", "-N", "1", "prog"}).message.find("slots=PES"), std::string::npos);
  EXPECT_NE(parse({"--odd", "prog"}).message.find("unknown option --odd; see oshrun --help"), std::string::npos);
}

TEST(OshrunOptions, HelpShowsWhereTheProgramStands) {
  const std::string help = parse({"--help"}).message;
  EXPECT_NE(help.find("Usage: oshrun -n N [options] [--] program [arguments]\n"), std::string::npos) << help;
  EXPECT_EQ(help.find("[OPTIONS]"), std::string::npos) << help;
}

TEST(OshrunOptions, NpIsNOnlyBeforeTheProgram) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"-np", "3", "prog", "-np", "4"},
        {"--tag-output", "-x", "A=1", "--timeout", "5", "-np", "3", "prog", "-np", "4"},
        {"-np", "3", "--", "prog", "-np", "4"}}) {
    const Parsed parsed = parse(words);
    ASSERT_EQ(parsed.message, "");
    EXPECT_EQ(parsed.options.npes, 3);
    EXPECT_EQ(parsed.options.command, (Words{"prog", "-np", "4"}));
  }
}

TEST(OshrunOptions, HostsSayHowManyPes) {
  const Parsed parsed = parse({"-H", "a:2,b:3", "prog"});
  ASSERT_EQ(parsed.message, "");
  EXPECT_EQ(parsed.options.npes, 5);
  ASSERT_EQ(parsed.options.shares.size(), 2u);
  EXPECT_EQ(parsed.options.shares[1].first, 2);
  EXPECT_EQ(parse({"-n", "1", "-H", "a:2,b:3", "prog"}).options.shares.size(), 1u);
  EXPECT_EQ(parse({"-n", "6", "-H", "a:2,b:3", "prog"}).exit_status, 2);
  EXPECT_EQ(parse({"-H", "a", "--hostfile", "f", "prog"}).exit_status, 2);
}

std::string shown(const std::vector<Share>& shares) {
  std::string out;
  for (const Share& share : shares)
    out += share.host + " " + std::to_string(share.first) + "+" + std::to_string(share.count) + ";";
  return out;
}

TEST(OshrunHosts, MoreSlotsThanAJobHasPesAreNoNumberOfPes) {
  std::string many;
  for (int i = 0; i < 2100; ++i) many += "node" + std::to_string(i) + ":1048576\n";  // more than an int counts
  EXPECT_THROW(place(parse_hostfile(many), 0), Error);
  EXPECT_EQ(shown(place(parse_hostfile(many), 3)), "node0 0+3;");
}

TEST(OshrunHosts, AreFilledInOrderOrDividedEvenly) {
  EXPECT_EQ(shown(place(parse_host_list("a:2,b:2"), 3)), "a 0+2;b 2+1;");
  EXPECT_EQ(shown(place(parse_host_list("a,b,c"), 7)), "a 0+3;b 3+2;c 5+2;");
  EXPECT_EQ(shown(place(parse_host_list("a,b,c"), 0)), "a 0+1;b 1+1;c 2+1;");
  EXPECT_EQ(shown(place(parse_host_list("a,b,c"), 2)), "a 0+1;b 1+1;");
  EXPECT_EQ(shown(place(parse_host_list("a:2,b"), 0)), "a 0+2;b 2+1;");
  EXPECT_EQ(shown(place(parse_hostfile("a\na\nb\na\n"), 0)), "a 0+3;b 3+1;");
  EXPECT_THROW(place(parse_host_list("a:2,b:2"), 5), Error);
}

TEST(OshrunHosts, NamesOfThisHostAreOneHost) {
  char own[256] = "";
  ASSERT_EQ(gethostname(own, sizeof own - 1), 0);
  const std::string name = own;
  EXPECT_EQ(shown(place(parse_host_list("localhost," + name + ",b"), 0)), "localhost 0+2;b 2+1;");
  EXPECT_EQ(shown(place(parse_host_list("b:1," + name + ":2,localhost:3"), 0)), "b 0+1;" + name + " 1+5;");
}

TEST(OshrunHosts, AddressesOfThisHostAreThisHost) {
  for (const char* name : {"localhost", "LocalHost", "localhost.", "127.0.0.1", "127.8.9.10", "::1"})
    EXPECT_TRUE(is_this_host(name)) << name;
  for (const char* name : {"192.0.2.7", "2001:db8::7", "localhost2", "me@localhost", "0.0.0.0"})
    EXPECT_FALSE(is_this_host(name)) << name;
  EXPECT_EQ(shown(place(parse_host_list("127.0.0.1:2, ::1 ,b,[::1]:3,LOCALHOST"), 0)), "127.0.0.1 0+7;b 7+1;");
}

TEST(OshrunHosts, EveryInterfacesAddressIsThisHost) {
  ifaddrs* found = nullptr;
  ASSERT_EQ(getifaddrs(&found), 0);
  int seen = 0;
  for (const ifaddrs* one = found; one; one = one->ifa_next) {
    const int family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;
    if (family != AF_INET && family != AF_INET6) continue;
    char name[NI_MAXHOST] = "";
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    ASSERT_EQ(getnameinfo(one->ifa_addr, length, name, sizeof name, nullptr, 0, NI_NUMERICHOST), 0);
    EXPECT_TRUE(is_this_host(name)) << name;
    ++seen;
  }
  freeifaddrs(found);
  EXPECT_GT(seen, 0);
}

TEST(OshrunHosts, CaseAndTheDotAtTheEndMakeNoOtherHost) {
  EXPECT_EQ(shown(place(parse_host_list("Node2,node2.,NODE2:3"), 0)), "Node2 0+5;");
  EXPECT_EQ(shown(place(parse_host_list("Me@a,me@a"), 0)), "Me@a 0+1;me@a 1+1;");
}

TEST(OshrunHosts, BlanksAroundNamesDoNotCount) {
  EXPECT_EQ(shown(place(parse_host_list(" a:2, b ,\tc"), 0)), "a 0+2;b 2+1;c 3+1;");
  EXPECT_EQ(shown(place(parse_hostfile("\xef\xbb\xbf"
                                       "a\tslots = 2\r\n  b slots= 1 max_slots =4\r\n"),
                        0)),
            "a 0+2;b 2+1;");
  for (const char* wrong : {"a b", "a, ,b", "a :2"}) EXPECT_THROW(parse_host_list(wrong), Error) << wrong;
}

TEST(OshrunHosts, MaxSlotsBoundsTheSlots) {
  EXPECT_EQ(shown(place(parse_hostfile("a slots=2 max_slots=4\nb max-slots=1 slots=1\nc max_slots=3\n"), 0)),
            "a 0+2;b 2+1;c 3+3;");
  for (const char* wrong : {"a slots=4 max_slots=2", "a max_slots=0", "a max_slots", "a slots=2 most=4"})
    EXPECT_THROW(parse_hostfile(wrong), Error) << wrong;
}

TEST(OshrunHosts, NamesMayBeAddressesAndUsers) {
  EXPECT_EQ(shown(place(parse_host_list("me@a:2,10.0.0.1:1,fe80::1,[fe80::2]:3"), 0)),
            "me@a 0+2;10.0.0.1 2+1;fe80::1 3+1;fe80::2 4+3;");
  EXPECT_EQ(shown(place(parse_hostfile("# all\n  a slots=2  # two\n\nb:1\n"), 0)), "a 0+2;b 2+1;");
  for (const char* wrong : {"", "a:", "a:0", "a:x", ":3", "-oProxyCommand=x", "a:99999999999"})
    EXPECT_THROW(parse_host_list(wrong), Error) << wrong;
  for (const char* wrong : {"# none", "a slots=", "a slots=2 b", "a max=2", "a slots=-1"})
    EXPECT_THROW(parse_hostfile(wrong), Error) << wrong;
}

TEST(Relay, OrderArrivesWhole) {
  ProcessGroupOrder order{.first = 3,
                          .count = 2,
                          .npes = 9,
                          .bind = Bind::numa,
                          .report = Report::places,
                          .environment = {{"A", "1\n2"}, {"B", ""}},
                          .directory = "/tmp/a b",
                          .command = {"prog", "", "-x"}};
  const Bytes bytes = relay::pack(order);
  const ProcessGroupOrder arrived = relay::unpack_order(bytes);
  EXPECT_EQ(relay::pack(arrived), bytes);
  EXPECT_EQ(arrived.output, Output::captured);
  EXPECT_EQ(arrived.command, order.command);
  EXPECT_THROW(relay::unpack_order(Bytes(bytes.begin(), bytes.end() - 1)), Error);
}

TEST(LineTagger, TagsWholeLinesOnly) {
  LineTagger tagger = LineTagger::of_pe(3);
  EXPECT_EQ(tagger.feed("ab"), "");
  EXPECT_EQ(tagger.feed("c\nd\n\ne"), "[3] abc\n[3] d\n[3] \n");
  EXPECT_EQ(tagger.finish(), "[3] e\n");
  EXPECT_EQ(tagger.finish(), "");
}

TEST(LineTagger, EndlessLineIsCut) {
  LineTagger tagger = LineTagger::of_pe(0);
  const std::string piece(1 << 19, 'x');
  EXPECT_EQ(tagger.feed(piece), "");
  EXPECT_GT(tagger.feed(piece).size(), piece.size());
}

TEST(Allgather, GivesEverythingInPeOrderToTheLast) {
  Allgather allgather(3);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(allgather.contribute(2, Bytes(2, std::byte{2})), nullptr);
    EXPECT_EQ(allgather.missing(), "PEs 0 and 1");
    EXPECT_EQ(allgather.contribute(0, Bytes(2, std::byte{0})), nullptr);
    const auto all = allgather.contribute(1, Bytes(2, std::byte{1}));
    ASSERT_NE(all, nullptr);
    EXPECT_EQ(*all, (Bytes{std::byte{0}, std::byte{0}, std::byte{1}, std::byte{1}, std::byte{2}, std::byte{2}}));
  }
}

TEST(Allgather, DifferentSizesAreAnError) {
  Allgather allgather(2);
  allgather.contribute(0, Bytes(2));
  EXPECT_THROW(allgather.contribute(1, Bytes(3)), Error);
}

TEST(Allgather, WaitingForOneThatLeftIsStuck) {
  Allgather allgather(2);
  allgather.leave(1);
  EXPECT_FALSE(allgather.stuck());
  allgather.contribute(0, {});
  ASSERT_TRUE(allgather.stuck());
  EXPECT_NE(allgather.stuck()->find("PE 1 finished"), std::string::npos);
}

TEST(Verdict, IsTheShells) {
  EXPECT_EQ(exit_status_of(3 << 8), 3);
  EXPECT_EQ(exit_status_of(SIGKILL), 137);
  EXPECT_EQ(describe(3 << 8), "exited with status 3");
  EXPECT_EQ(describe(SIGKILL), "was killed by signal 9 (Killed)");
}

/// PEs 2 to 4 of a job of 6.
struct OshrunRelayTalk : testing::Test {
  RelayTalk talk{2, 3};
  RelayMessage read(uint32_t kind, const Packer& packer = {}) { return talk.read({kind, Packer(packer).take()}); }
  void be_ready() { EXPECT_EQ(read(relay::ready, Packer().add_text("1.0")).text, "1.0"); }
  void end(int pe) { EXPECT_EQ(read(relay::exited, Packer().add(pe).add(pid_t{77}).add(9)).pid, 77); }
};

TEST_F(OshrunRelayTalk, AMessageBeforeItIsReadyIsRefused) {
  EXPECT_THROW(read(relay::note, Packer().add_text("a note")), Error);
  EXPECT_THROW(read(relay::from_pe, Packer().add(2).add(uint32_t{1})), Error);
  be_ready();
  EXPECT_THROW(read(relay::ready, Packer().add_text("1.0")), Error);
}

TEST_F(OshrunRelayTalk, PesOfOtherHostsAreRefused) {
  be_ready();
  for (const int pe : {-2147483647 - 1, -1, 1, 5, 2147483647})
    EXPECT_THROW(read(relay::from_pe, Packer().add(pe).add(uint32_t{1})), Error) << pe;
  EXPECT_EQ(read(relay::from_pe, Packer().add(4).add(uint32_t{1})).pe, 4);
}

TEST_F(OshrunRelayTalk, APeEndsOnceAndAllEndBeforeTheHostIsDone) {
  be_ready();
  end(3);
  EXPECT_THROW(end(3), Error);
  EXPECT_THROW(read(relay::from_pe, Packer().add(3).add(uint32_t{1})), Error);
  EXPECT_EQ(read(relay::output, Packer().add(3).add(1)).number, 1);
  EXPECT_THROW(read(relay::done), Error);
  end(2);
  end(4);
  EXPECT_EQ(read(relay::done).kind, uint32_t{relay::done});
}

TEST(OshrunRelayProtocol, OrdersAndMessagesForPesThatAreNotThereAreRefused) {
  ProcessGroupOrder order{.first = 2, .count = 3, .npes = 6, .command = {"program"}};
  EXPECT_EQ(relay::unpack_order(relay::pack(order)).count, 3);
  EXPECT_EQ(relay::unpack_to_pe(Packer().add(4).add(uint32_t{1}).take(), order).pe, 4);
  EXPECT_THROW(relay::unpack_to_pe(Packer().add(5).add(uint32_t{1}).take(), order), Error);
  EXPECT_THROW(relay::unpack_to_pe(Packer().add(-2).add(uint32_t{1}).take(), order), Error);
  order.count = 5;
  EXPECT_THROW(relay::unpack_order(relay::pack(order)), Error);
  order.count = 2147483647;
  EXPECT_THROW(relay::unpack_order(relay::pack(order)), Error);
  order.count = 3;
  order.command.clear();
  EXPECT_THROW(relay::unpack_order(relay::pack(order)), Error);
}

}  // namespace
}  // namespace railshmem::oshrun
