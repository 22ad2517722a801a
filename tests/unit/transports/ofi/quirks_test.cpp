// SPDX-License-Identifier: BSD-3-Clause
// Which differences hold of which provider under which version of libfabric; and the one that crashed, live.
#include "transports/ofi/quirks.h"

#include <gtest/gtest.h>
#include <rdma/fi_endpoint.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "src/base/error.h"
#include "src/base/log.h"
#include "tests/support/ofi_fabric.h"
#include "transports/ofi/fid.h"

namespace railshmem::ofi {
namespace {

Info provider(const char* name, uint32_t protocol = FI_PROTO_UNSPEC) {
  Info info(fi_allocinfo());
  info->fabric_attr->prov_name = strdup(name);  // the info frees it
  info->ep_attr->protocol = protocol;
  return info;
}

TEST(OfiQuirks, BareTcpOfLibfabric2HearsOfOneThreadForEachDomain) {
  EXPECT_EQ(quirks_of(*provider("tcp"), FI_VERSION(2, 0)).threading, FI_THREAD_DOMAIN);
  EXPECT_EQ(quirks_of(*provider("tcp"), FI_VERSION(2, 6)).threading, FI_THREAD_DOMAIN);
  EXPECT_EQ(quirks_of(*provider("tcp"), FI_VERSION(1, 22)).threading, FI_THREAD_UNSPEC);
  for (const char* other : {"tcp;ofi_rxm", "shm", "verbs;ofi_rxm", "efa"})
    EXPECT_EQ(quirks_of(*provider(other), FI_VERSION(2, 1)).threading, FI_THREAD_UNSPEC) << other;
}

TEST(OfiQuirks, ReadsOverTcpMayFailSince118) {
  for (const char* name : {"tcp", "net", "tcp;ofi_rxm"}) {
    EXPECT_FALSE(quirks_of(*provider(name), FI_VERSION(1, 17)).reads_may_fail) << name;
    EXPECT_TRUE(quirks_of(*provider(name), FI_VERSION(1, 18)).reads_may_fail) << name;
  }
  EXPECT_TRUE(quirks_of(*provider("shm"), FI_VERSION(1, 17)).reads_may_fail);
}

TEST(OfiQuirks, DatagramsAndSocketsAreWhatTheyWere) {
  for (const uint32_t version : {FI_VERSION(1, 14), FI_VERSION(2, 6)}) {
    const Quirks rxd = quirks_of(*provider("udp;ofi_rxd", FI_PROTO_RXD), version);
    EXPECT_TRUE(rxd.counts_messages && rxd.plain_sends && rxd.drains && !rxd.keeps_order);
    EXPECT_EQ(rxd.operations, 1023u);
    EXPECT_TRUE(quirks_of(*provider("sockets", FI_PROTO_SOCK_TCP), version).counts_messages);
    EXPECT_FALSE(quirks_of(*provider("shm"), version).counts_messages);
  }
}

TEST(OfiQuirks, ProvidersThatStrangersHarmAreNamedAtTheStart) {
  EXPECT_NE(exposure_of(*provider("udp;ofi_rxd", FI_PROTO_RXD)), "");
  EXPECT_NE(exposure_of(*provider("sockets", FI_PROTO_SOCK_TCP)), "");
  for (const char* other : {"tcp;ofi_rxm", "tcp", "net", "shm", "verbs;ofi_rxm", "efa"})
    EXPECT_EQ(exposure_of(*provider(other)), "") << other;
}

/// Warnings at the start of PE `pe` over this provider; nothing where the provider is not to be had.
std::optional<uint64_t> warnings_of_start(const char* name, int pe) {
  const uint64_t before = warnings_logged();
  try {
    testing_support::make_ofi_fabric({{"SHMEM_OFI_PROVIDER", name}}, pe);
  } catch (const Error&) {
    return {};
  }
  return warnings_logged() - before;
}

TEST(OfiQuirks, OnlyPe0WarnsOfAnExposedProvider) {
  if (!warnings_of_start("sockets", 0)) GTEST_SKIP() << "this libfabric has no provider sockets";
  EXPECT_EQ(warnings_of_start("sockets", 0), 1u);
  EXPECT_EQ(warnings_of_start("sockets", 1), 0u);
  EXPECT_EQ(warnings_of_start("tcp", 0), 0u);
}

TEST(OfiQuirks, ShmBefore115IsUnfit) {
  EXPECT_NE(unfit("shm", FI_VERSION(1, 14)).find("libfabric 1.14 loses the order of data"), std::string::npos);
  EXPECT_EQ(unfit("shm", FI_VERSION(1, 15)), "");
  EXPECT_EQ(unfit("shm", FI_VERSION(2, 6)), "");
  EXPECT_EQ(unfit("tcp;ofi_rxm", FI_VERSION(1, 14)), "");
}

TEST(OfiQuirks, ANameMeansItsSuccessorWhereItIsGone) {
  const std::vector<std::string> before_118 = {"tcp;ofi_rxm", "net", "shm"}, since = {"tcp", "tcp;ofi_rxm", "shm"};
  EXPECT_EQ(provider_meant_by("tcp", before_118), "tcp;ofi_rxm");
  EXPECT_EQ(provider_meant_by("tcp", since), "tcp");
  EXPECT_EQ(provider_meant_by("net", before_118), "net");
  EXPECT_EQ(provider_meant_by("net", since), "tcp");
  EXPECT_EQ(provider_meant_by("net", {"tcp;ofi_rxm"}), "") << "whose endpoints are others";
  EXPECT_EQ(provider_meant_by("verbs", {"verbs;ofi_rxm"}), "verbs;ofi_rxm");
  EXPECT_EQ(provider_meant_by("foo", since), "");
}

/// Under libfabric 2 this call crashed while the domain was opened for FI_THREAD_COMPLETION.
TEST(OfiQuirks, TheProxyRailOfTcpHasADescriptorToSleepOn) {
  std::shared_ptr<Fabric> fabric;
  try {
    fabric = testing_support::make_ofi_fabric({{"SHMEM_OFI_PROVIDER", "tcp"}});
  } catch (const Error& missing) {
    GTEST_SKIP() << missing.what();
  }
  EXPECT_NE(fabric->describe().find("wait object fd"), std::string::npos) << fabric->describe();
}

}  // namespace
}  // namespace railshmem::ofi
