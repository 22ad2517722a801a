// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/nic_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/base/error.h"
#include "tests/support/nic_machines.h"
#include "transports/ofi/nic.h"

namespace railshmem::ofi {
namespace {

using namespace testing_support;
using Names = std::vector<std::string>;

Names used(const MachineMap& machine, const NicRequest& request) {
  Names names;
  for (const size_t entry : choose_nics(machine.listed, request).used) names.push_back(machine[entry].domain);
  return names;
}

NicRequest request(std::string provider, std::string nics = "", size_t max_rails = 0, bool several_hosts = false) {
  NicRequest request;
  request.provider = std::move(provider);
  request.nics = std::move(nics);
  request.max_rails = max_rails;
  request.several_hosts = several_hosts;
  return request;
}

NicRequest for_pe(size_t slot, std::vector<Place> pes, size_t max_rails = 0, std::string nics = "") {
  NicRequest request;
  request.pes = std::move(pes);
  request.slot = slot;
  request.max_rails = max_rails;
  request.nics = std::move(nics);
  return request;
}

std::string message_of(const MachineMap& machine, const NicRequest& request) {
  try {
    choose_nics(machine.listed, request);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// The reason of the NIC (or provider) whose line begins so.
std::string why(const NicChoice& choice, const std::string& nic) {
  for (const NicVerdict& verdict : choice.verdicts)
    if (verdict.nic.rfind(nic, 0) == 0) return verdict.why;
  return "no line";
}

MachineMap plain_machine() {
  MachineMap machine;
  add_sockets(machine, {"eth0", "lo"});
  return machine;
}

TEST(NicChoice, PrefersLibfabricsFirstProviderOnARealInterface) {
  const MachineMap machine = plain_machine();
  for (bool several_hosts : {false, true}) {
    const NicChoice choice = choose_nics(machine.listed, request("", "", 4, several_hosts));
    ASSERT_EQ(choice.used, std::vector<size_t>{0});
  }
}

TEST(NicChoice, TheLaptopUsesOneInterfaceUnlessAskedForMore) {
  const MachineMap machine = laptop();
  for (size_t npes : {1, 2, 8, 16})
    for (size_t slot = 0; slot < npes; ++slot) {
      EXPECT_EQ(used(machine, for_pe(slot, std::vector<Place>(npes))), Names{"eth0"})
          << "interfaces may be two networks";
      EXPECT_EQ(used(machine, for_pe(slot, std::vector<Place>(npes), 8)), (Names{"eth0", "wlan0"}));
    }
  const NicChoice choice = choose_nics(machine.listed, {});
  EXPECT_EQ(why(choice, "tcp;ofi_rxm on eth0"), "the best that libfabric lists");
  EXPECT_EQ(why(choice, "tcp;ofi_rxm on wlan0"), "beyond the limit of 1");
  EXPECT_EQ(why(choice, "tcp;ofi_rxm on docker0"), "a bridge of this host");
  EXPECT_EQ(why(choice, "tcp;ofi_rxm on lo"), "it does not reach other hosts");
  EXPECT_EQ(why(choice, "net"), "tcp;ofi_rxm is preferred");
  EXPECT_EQ(why(choice, "shm"), "it does not reach other hosts");
  EXPECT_EQ(choice.verdicts.size(), 7u) << "one line for each NIC and each other provider";
}

TEST(NicChoice, AnInterfaceWithoutALinkIsPassedOver) {
  MachineMap machine = laptop();
  for (NicFacts& nic : machine.listed) nic.up = nic.domain != "eth0";
  EXPECT_EQ(used(machine, {}), Names{"wlan0"});
  EXPECT_EQ(why(choose_nics(machine.listed, {}), "tcp;ofi_rxm on eth0"), "its link is down");
  EXPECT_EQ(used(machine, request("", "eth0")), Names{"eth0"}) << "the user knows better";
}

TEST(NicChoice, APeOfADgxUsesTheNicOfItsGpuAndNoStorage) {
  const MachineMap machine = dgx_h100();
  const Names compute = {"mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11"};
  for (size_t slot = 0; slot < 8; ++slot)
    EXPECT_EQ(used(machine, for_pe(slot, machine.gpu_pes(8))), Names{compute[slot]});
  for (size_t slot = 0; slot < 16; ++slot) EXPECT_EQ(used(machine, for_pe(slot, machine.bound_pes(16))).size(), 1u);
  const NicChoice choice = choose_nics(machine.listed, for_pe(1, machine.gpu_pes(8)));
  EXPECT_EQ(why(choice, "verbs;ofi_rxm on mlx5_3"), "same PCIe switch; dealt to PE 1 of 8 of the host");
  EXPECT_EQ(why(choice, "verbs;ofi_rxm on mlx5_0"), "dealt to PE 0 of the host; same NUMA node");
  EXPECT_EQ(why(choice, "verbs;ofi_rxm on mlx5_11"), "dealt to PE 7 of the host; another package");
  EXPECT_EQ(why(choice, "verbs;ofi_rxm on mlx5_7"), "slower than others, which have 400 Gb/s");
  EXPECT_EQ(why(choice, "tcp;ofi_rxm"), "it does not bypass the kernel as verbs;ofi_rxm does");
}

TEST(NicChoice, APeOfAP5UsesFourInterfacesOfOneProtocol) {
  const MachineMap machine = p5_48xlarge();
  for (size_t npes : {1, 2, 8, 16})
    for (size_t slot = 0; slot < npes; ++slot) {
      const auto choice = choose_nics(machine.listed, for_pe(slot, machine.gpu_pes(npes)));
      EXPECT_EQ(choice.used.size(), npes == 16 ? 2u : 4u);
      for (const size_t entry : choice.used) EXPECT_EQ(machine[entry].variant, 1u);
    }
  EXPECT_EQ(used(machine, for_pe(0, machine.gpu_pes(8))),
            (Names{"rdmap79s0-rdm", "rdmap80s0-rdm", "rdmap81s0-rdm", "rdmap82s0-rdm"}));
}

TEST(NicChoice, TheNumaServerUsesTheNearNic) {
  const MachineMap machine = numa_server();
  EXPECT_EQ(used(machine, for_pe(0, machine.bound_pes(1))), (Names{"mlx5_0", "mlx5_1"}));
  for (size_t npes : {2, 8, 16}) {
    EXPECT_EQ(used(machine, for_pe(0, machine.bound_pes(npes))), Names{"mlx5_0"});
    EXPECT_EQ(used(machine, for_pe(npes - 1, machine.bound_pes(npes))), Names{"mlx5_1"});
  }
  EXPECT_EQ(why(choose_nics(machine.listed, for_pe(0, machine.bound_pes(8))), "verbs;ofi_rxm on mlx5_1"),
            "dealt to 4 other PEs of the host; another package");
}

TEST(NicChoice, WhereAllFastNicsAreDownSocketsServe) {
  MachineMap machine = numa_server();
  for (NicFacts& nic : machine.listed) nic.up = nic.pci.empty();
  EXPECT_EQ(used(machine, {}), Names{"eth0"});
}

TEST(NicChoice, TakesLoopbackOnlyWhenNothingElseIsThere) {
  MachineMap machine;
  machine.listed = {socket_nic("tcp;ofi_rxm", "lo"), socket_nic("tcp;ofi_rxm", "lo", AddressFamily::ipv6)};
  EXPECT_EQ(choose_nics(machine.listed, {}).used, std::vector<size_t>{0});
  EXPECT_NE(message_of(machine, request("", "", 0, true)).find("several hosts"), std::string::npos);
}

TEST(NicChoice, SharedMemoryIsRefusedForSeveralHosts) {
  const MachineMap machine = plain_machine();
  EXPECT_EQ(used(machine, request("shm")), Names{"shm"});
  EXPECT_NE(message_of(machine, request("shm", "", 0, true)).find("shm on shm"), std::string::npos);
}

TEST(NicChoice, BareTcpMeansTcpOverRxmWhereTcpHasNoEndpoints) {
  MachineMap machine = plain_machine();
  const auto provider = [&] { return machine[choose_nics(machine.listed, request("tcp")).used.front()].provider; };
  EXPECT_EQ(provider(), "tcp;ofi_rxm");
  machine.listed.push_back(socket_nic("tcp", "eth0"));
  EXPECT_EQ(provider(), "tcp");
}

TEST(NicChoice, NetMeansTheTcpThatHasTakenItsPlace) {
  MachineMap machine;
  machine.listed = {socket_nic("tcp;ofi_rxm", "eth0"), socket_nic("tcp", "eth0"), socket_nic("shm", "shm")};
  const NicChoice choice = choose_nics(machine.listed, request("net"));
  EXPECT_EQ(machine[choice.used.front()].provider, "tcp");
  EXPECT_EQ(why(choice, "shm"), "SHMEM_OFI_PROVIDER is 'net', which means tcp here");
  machine.listed.push_back(socket_nic("net", "eth0"));
  EXPECT_EQ(machine[choose_nics(machine.listed, request("net")).used.front()].provider, "net");
}

TEST(NicChoice, RailsAreDistinctNicsOfOneProviderAndFamily) {
  MachineMap machine;
  machine.listed = {socket_nic("net", "eth0", AddressFamily::ipv6),
                    socket_nic("net", "eth0"),
                    socket_nic("net", "eth0:1"),
                    socket_nic("net", "eth1"),
                    socket_nic("net", "eth2", AddressFamily::ipv6),
                    socket_nic("net", "docker0"),
                    socket_nic("net", "lo"),
                    socket_nic("tcp;ofi_rxm", "eth3")};
  EXPECT_EQ(used(machine, request("", "", 8)), (Names{"eth0", "eth1"}));
  EXPECT_EQ(used(machine, request("", "", 1)), Names{"eth0"});
  EXPECT_EQ(why(choose_nics(machine.listed, {}), "net on eth2"), "it has not an IPv4 address as the others have");
}

TEST(NicChoice, AnAliasIsNoNicOfItsOwn) {
  MachineMap machine;
  machine.listed = {socket_nic("net", "eth0:1"), socket_nic("net", "eth0"), socket_nic("net", "eth1")};
  machine.listed[0].interface = "eth0";
  EXPECT_EQ(used(machine, request("", "", 8)), (Names{"eth0", "eth1"}));
  EXPECT_EQ(used(machine, request("", "eth0")), Names{"eth0"});
  EXPECT_EQ(used(machine, request("", "eth0:1")), Names{"eth0:1"});
  EXPECT_EQ(used(machine, request("", "^eth0")), Names{"eth1"});
  EXPECT_NE(message_of(machine, request("", "eth0,eth0:1")).find("same NIC"), std::string::npos);
}

TEST(NicChoice, AProviderIsJudgedByItsBestNic) {
  MachineMap machine;
  machine.listed = {socket_nic("tcp;ofi_rxm", "docker0"), socket_nic("tcp;ofi_rxm", "eth0"),
                    socket_nic("net", "docker0"), socket_nic("net", "eth0")};
  EXPECT_EQ(why(choose_nics(machine.listed, {}), "net"), "tcp;ofi_rxm is preferred");
}

TEST(NicChoice, TwoEntriesOfOnePciDeviceAreOneRail) {
  MachineMap machine;
  machine.listed = {pci_nic("efa", "rdmap0s6-rdm", 0, 0, 100, {}), pci_nic("efa", "rdmap0s6-dgrm", 0, 0, 100, {}),
                    pci_nic("efa", "rdmap1s6-rdm", 1, 0, 100, {})};
  EXPECT_EQ(used(machine, request("", "", 8)), (Names{"rdmap0s6-rdm", "rdmap1s6-rdm"}));
}

TEST(NicNames, AListIsTakenAsItStands) {
  const MachineMap machine = laptop();
  EXPECT_EQ(used(machine, request("", "wlan0,eth0")), (Names{"wlan0", "eth0"})) << "all of it, in this order";
  EXPECT_EQ(used(machine, request("", "wlan0,eth0", 1)), Names{"wlan0"});
  EXPECT_EQ(used(machine, request("", "lo,docker0")), (Names{"lo", "docker0"}));
  const NicChoice choice = choose_nics(machine.listed, request("", "wlan0"));
  EXPECT_EQ(why(choice, "tcp;ofi_rxm on wlan0"), "named in SHMEM_OFI_NICS");
  EXPECT_EQ(why(choice, "tcp;ofi_rxm on eth0"), "not named in SHMEM_OFI_NICS");
  EXPECT_EQ(why(choice, "net"), "tcp;ofi_rxm is preferred");
}

TEST(NicNames, ANicHasFourNames) {
  MachineMap machine = numa_server();
  machine.listed[1].interface = "ib1";
  machine.listed[1].device = "roce1";
  for (const char* name : {"mlx5_1", "ib1", "roce1", "0000:b1:00.0"})
    EXPECT_EQ(used(machine, request("", name)), Names{"mlx5_1"}) << name;
  EXPECT_NE(message_of(machine, request("", "ib1,mlx5_1")).find("ib1 and mlx5_1 are the same NIC"), std::string::npos);
}

TEST(NicNames, ACaretExcludes) {
  const MachineMap machine = laptop();
  EXPECT_EQ(used(machine, request("", "^eth0")), Names{"wlan0"});
  EXPECT_EQ(used(machine, request("", "^eth0,wlan0")), Names{"docker0"});
  const MachineMap dgx = dgx_h100();
  EXPECT_EQ(used(dgx, for_pe(0, dgx.gpu_pes(1), 0, "^mlx5_0")), (Names{"mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6"}));
  EXPECT_EQ(why(choose_nics(dgx.listed, request("", "^mlx5_0")), "verbs;ofi_rxm on mlx5_0"),
            "excluded by SHMEM_OFI_NICS");
}

TEST(NicNames, WhatIsNotThereMayBeExcluded) {
  const MachineMap machine = laptop();
  EXPECT_EQ(used(machine, request("", "^virbr0,wlan0")), Names{"eth0"});
  EXPECT_EQ(used(machine, request("", "^virbr0")), used(machine, request("")));
}

TEST(NicNames, WhatIsDownIsLeftOut) {
  const MachineMap machine = laptop();
  NicRequest wanted = request("", "eth7,wlan0,eth8,eth0");
  wanted.not_ready = {
      {"eth8", "its link is down"}, {"eth7", "it has no address"}, {"eth0", "it is listed all the same"}};
  EXPECT_EQ(used(machine, wanted), (Names{"wlan0", "eth0"}));
  const NicChoice choice = choose_nics(machine.listed, wanted);
  ASSERT_EQ(choice.absent.size(), 2u);
  EXPECT_EQ(choice.absent[0].name, "eth7");
  EXPECT_EQ(choice.absent[1].why, "its link is down");
  wanted.nics = "eth7,nonsense,wlan0";
  EXPECT_NE(message_of(machine, wanted).find("SHMEM_OFI_NICS names 'nonsense'"), std::string::npos);
  wanted.nics = "eth8,eth7";
  EXPECT_EQ(message_of(machine, wanted)
                .find("SHMEM_OFI_NICS names no NIC that is up (eth8: its link is down; eth7: it "
                      "has no address): bring one up, or name others; available: "),
            0u)
      << message_of(machine, wanted);
}

TEST(NicNames, SemicolonsGiveEachPeAListInTurn) {
  const MachineMap machine = dgx_h100();
  const std::string value = "mlx5_0,mlx5_3;mlx5_6,mlx5_9";
  for (size_t slot = 0; slot < 4; ++slot)
    EXPECT_EQ(used(machine, for_pe(slot, std::vector<Place>(4), 0, value)),
              slot % 2 ? (Names{"mlx5_6", "mlx5_9"}) : (Names{"mlx5_0", "mlx5_3"}));
}

TEST(NicNames, AListFindsTheProviderThatHasAllOfIt) {
  MachineMap machine = laptop();
  machine.listed.push_back(socket_nic("net", "eth7"));
  machine.listed.push_back(socket_nic("tcp;ofi_rxm", "eth8", AddressFamily::ipv6_link_local));
  const auto choice = choose_nics(machine.listed, request("", "eth0,eth7"));
  EXPECT_EQ(machine[choice.used.front()].provider, "net");
  for (const size_t entry : choose_nics(machine.listed, request("", "eth0,eth8")).used)
    EXPECT_EQ(machine[entry].family, AddressFamily::ipv6_link_local) << "the one that both have";
  EXPECT_NE(message_of(machine, request("", "eth7,eth8")).find("no provider has all"), std::string::npos);
}

TEST(NicNames, UnknownNamesListWhatThereIs) {
  const MachineMap machine = plain_machine();
  EXPECT_EQ(message_of(machine, request("foo")),
            "SHMEM_OFI_PROVIDER is 'foo'; available: tcp;ofi_rxm, net, sockets, shm");
  EXPECT_EQ(message_of(machine, request("net", "ib0")), "SHMEM_OFI_NICS names 'ib0'; available: eth0, lo");
  EXPECT_NE(message_of(machine, request("net", "^eth0,lo")).find("excludes all"), std::string::npos);
}

TEST(NicChoice, UnfitProvidersAreLeftOut) {
  MachineMap machine = plain_machine();
  for (NicFacts& nic : machine.listed)
    if (nic.provider == "shm") nic.unfit = "shm is broken; use another";
  const NicChoice choice = choose_nics(machine.listed, request(""));
  EXPECT_NE(machine[choice.used.front()].provider, "shm");
  EXPECT_EQ(why(choice, "shm"), "shm is broken; use another");
  EXPECT_EQ(message_of(machine, request("shm")),
            "SHMEM_OFI_PROVIDER is 'shm': shm is broken; use another; available: tcp;ofi_rxm, net, sockets");
  std::erase_if(machine.listed, [](const NicFacts& nic) { return nic.unfit.empty(); });
  EXPECT_EQ(message_of(machine, request("")), "no provider of libfabric may be used: shm is broken; use another");
}

TEST(NicNames, MalformedValuesAreErrorsThatSayHow) {
  const MachineMap machine = plain_machine();
  for (const char* value :
       {",", "eth0,", "eth0,,lo", ";", "eth0;", "^", "^^eth0", "eth0,^lo", "^eth0;lo", "eth0, lo", "lo,lo"}) {
    const std::string message = message_of(machine, request("net", value));
    EXPECT_NE(message.find(std::string("SHMEM_OFI_NICS is '") + value + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("accepted: eth0,eth1"), std::string::npos) << message;
    EXPECT_NE(message.find("available: eth0, lo"), std::string::npos) << message;
  }
}

/// The real list; skipped where libfabric has no provider for us.
class FindNics : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      if (find().empty()) FAIL() << "nothing, and no error";
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::vector<Nic> find(const char* rails_per_nic = nullptr) {
    const Env env = Env::parse([&](const char* name) -> const char* {
      return name == std::string_view("SHMEM_OFI_RAILS_PER_NIC") ? rails_per_nic : nullptr;
    });
    NetworkConfig config{};
    config.env = &env;
    explained = explain_choice(config);
    return find_nics(config);
  }
  std::string explained;
};

TEST_F(FindNics, OpensSeveralRailsOnANicWhenAsked) {
  const std::vector<Nic> one = find("1");
  const std::vector<Nic> three = find("3");
  ASSERT_EQ(three.size(), 3 * one.size());
  for (size_t i = 0; i < three.size(); ++i) {
    const Nic& same = one[i % one.size()];
    EXPECT_EQ(std::string(three[i].domain()), same.domain());
    EXPECT_EQ(three[i].copy, i / one.size());
    EXPECT_EQ(network_of(three[i]), network_of(same));
    EXPECT_NE(three[i].info.get(), same.info.get());
  }
  EXPECT_EQ(one.front().name().find('#'), std::string::npos);
  EXPECT_NE(three.back().name().find("#3"), std::string::npos);
}

TEST_F(FindNics, RefusesNumbersOfRailsOutOfReason) {
  for (const char* value : {"0", "17"}) {
    try {
      find(value);
      ADD_FAILURE() << value;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("SHMEM_OFI_RAILS_PER_NIC is '" + std::string(value) + "'"),
                std::string::npos);
    }
  }
}

TEST_F(FindNics, NamesTheNetworkAndTheReason) {
  for (const Nic& nic : find()) {
    if (nic.facts.family == AddressFamily::ipv4) {
      EXPECT_NE(network_of(nic).find('/'), std::string::npos);
    }
    EXPECT_FALSE(nic.why.empty());
    EXPECT_NE(explained.find("used     " + nic.name()), std::string::npos) << explained;
    EXPECT_NE(explained.find(nic.why), std::string::npos);
  }
}

}  // namespace
}  // namespace railshmem::ofi
