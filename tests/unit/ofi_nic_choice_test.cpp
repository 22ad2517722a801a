// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "src/base/error.h"
#include "transports/ofi/nic_choice.h"

namespace railshmem::ofi {
namespace {

NicFacts nic(std::string provider, std::string domain, AddressFamily family = AddressFamily::ipv4) {
  NicFacts facts;
  facts.provider = std::move(provider);
  facts.interface = domain;
  facts.domain = std::move(domain);
  facts.family = family;
  facts.ordered = true;
  facts.loopback = facts.domain == "lo" || facts.domain == "shm";
  return facts;
}

/// What libfabric 1.17 lists on a machine with one interface.
std::vector<NicFacts> plain_machine() {
  std::vector<NicFacts> all;
  for (const char* provider : {"tcp;ofi_rxm", "shm", "udp;ofi_rxd", "sockets", "net"}) {
    if (provider == std::string("shm")) {
      all.push_back(nic("shm", "shm", AddressFamily::other));
      all.back().ordered = false;
      continue;
    }
    all.push_back(nic(provider, "eth0"));
    all.push_back(nic(provider, "eth0", AddressFamily::ipv6_link_local));
    all.push_back(nic(provider, "eth0", AddressFamily::ipv6));
    all.push_back(nic(provider, "lo"));
    all.push_back(nic(provider, "lo", AddressFamily::ipv6));
  }
  return all;
}

std::string message_of(std::span<const NicFacts> listed, const NicRequest& request) {
  try {
    choose_nics(listed, request);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(NicChoice, PrefersLibfabricsFirstProviderOnARealInterface) {
  const auto listed = plain_machine();
  for (bool several_hosts : {false, true}) {
    const auto chosen = choose_nics(listed, {"", "", several_hosts, 4});
    ASSERT_EQ(chosen, std::vector<size_t>{0});
  }
}

TEST(NicChoice, RealNicBeatsTcpWhereverItIsListed) {
  auto listed = plain_machine();
  listed.push_back(nic("verbs;ofi_rxm", "mlx5_0"));
  listed.back().pci = "0000:17:00.0";
  EXPECT_EQ(listed[choose_nics(listed, {}).front()].domain, "mlx5_0");
}

TEST(NicChoice, TakesLoopbackOnlyWhenNothingElseIsThere) {
  const std::vector<NicFacts> listed = {nic("tcp;ofi_rxm", "lo"), nic("tcp;ofi_rxm", "lo", AddressFamily::ipv6)};
  EXPECT_EQ(choose_nics(listed, {}), std::vector<size_t>{0});
  EXPECT_NE(message_of(listed, {"", "", true, 1}).find("several hosts"), std::string::npos);
}

TEST(NicChoice, SharedMemoryIsRefusedForSeveralHosts) {
  const auto listed = plain_machine();
  EXPECT_EQ(listed[choose_nics(listed, {"shm", "", false, 1}).front()].provider, "shm");
  EXPECT_NE(message_of(listed, {"shm", "", true, 1}).find("shm on shm"), std::string::npos);
}

TEST(NicChoice, BareTcpMeansTcpOverRxmWhereTcpHasNoEndpoints) {
  auto listed = plain_machine();
  EXPECT_EQ(listed[choose_nics(listed, {"tcp", "", false, 1}).front()].provider, "tcp;ofi_rxm");
  listed.push_back(nic("tcp", "eth0"));
  EXPECT_EQ(listed[choose_nics(listed, {"tcp", "", false, 1}).front()].provider, "tcp");
}

TEST(NicChoice, UnknownNamesListWhatThereIs) {
  const auto listed = plain_machine();
  EXPECT_EQ(message_of(listed, {"foo", "", false, 1}),
            "SHMEM_OFI_PROVIDER is 'foo'; available: tcp;ofi_rxm, shm, udp;ofi_rxd, sockets, net");
  EXPECT_EQ(message_of(listed, {"net", "ib0", false, 1}), "SHMEM_OFI_NIC is 'ib0'; available: eth0, lo");
}

TEST(NicChoice, NicMayBeNamedByDomainOrByInterface) {
  std::vector<NicFacts> listed = {nic("verbs", "mlx5_0"), nic("verbs", "mlx5_1")};
  listed[1].interface = "ib1";
  EXPECT_EQ(choose_nics(listed, {"", "mlx5_1", false, 1}), std::vector<size_t>{1});
  EXPECT_EQ(choose_nics(listed, {"", "ib1", false, 1}), std::vector<size_t>{1});
}

TEST(NicChoice, RailsAreDistinctNicsOfOneProviderAndFamily) {
  std::vector<NicFacts> listed = {nic("net", "eth0", AddressFamily::ipv6),
                                  nic("net", "eth0"),
                                  nic("net", "eth1"),
                                  nic("net", "eth2", AddressFamily::ipv6),
                                  nic("net", "docker0"),
                                  nic("net", "lo"),
                                  nic("tcp;ofi_rxm", "eth3")};
  listed[4].host_bridge = true;
  EXPECT_EQ(choose_nics(listed, {"", "", false, 8}), (std::vector<size_t>{1, 2}));
  EXPECT_EQ(choose_nics(listed, {"", "", false, 1}), (std::vector<size_t>{1}));
}

TEST(NicChoice, TwoEntriesOfOnePciDeviceAreOneRail) {
  std::vector<NicFacts> listed = {nic("efa", "rdmap0s6-rdm"), nic("efa", "rdmap0s6-dgrm"), nic("efa", "rdmap1s6-rdm")};
  listed[0].pci = listed[1].pci = "0000:00:06.0";
  listed[2].pci = "0000:01:06.0";
  EXPECT_EQ(choose_nics(listed, {"", "", false, 8}), (std::vector<size_t>{0, 2}));
}

}  // namespace
}  // namespace railshmem::ofi
