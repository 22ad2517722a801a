// SPDX-License-Identifier: BSD-3-Clause
// The rail suite on every provider that needs no hardware.
#include <string>

#include "tests/support/ofi_fabric.h"
#include "tests/support/rail_suite.h"

namespace railshmem::testing_support {
namespace {

std::shared_ptr<ofi::Fabric> make_ofi(int pe, const char* provider, const char* progress, const char* local = "0") {
  return make_ofi_fabric(
      {{"SHMEM_OFI_PROVIDER", provider}, {"SHMEM_OFI_PROGRESS", progress}, {"SHMEM_OFI_REGISTER_LOCAL", local}}, pe);
}

#define OFI_MAKER(Name, provider, progress)                                                       \
  struct Name {                                                                                   \
    using FabricType = ofi::Fabric;                                                               \
    static std::shared_ptr<ofi::Fabric> make(int pe) { return make_ofi(pe, provider, progress); } \
  }
OFI_MAKER(TcpRxm, "tcp;ofi_rxm", "auto");
OFI_MAKER(TcpRxmThread, "tcp;ofi_rxm", "thread");
OFI_MAKER(Tcp, "tcp", "auto");
OFI_MAKER(Net, "net", "auto");
OFI_MAKER(Shm, "shm", "auto");
OFI_MAKER(Sockets, "sockets", "auto");
OFI_MAKER(UdpRxd, "udp;ofi_rxd", "auto");

/// As if the provider asked for FI_MR_LOCAL, which none of these does.
#define OFI_LOCAL_MAKER(Name, provider)                                                              \
  struct Name {                                                                                      \
    using FabricType = ofi::Fabric;                                                                  \
    static std::shared_ptr<ofi::Fabric> make(int pe) { return make_ofi(pe, provider, "auto", "1"); } \
  }
OFI_LOCAL_MAKER(TcpRxmLocal, "tcp;ofi_rxm");
OFI_LOCAL_MAKER(NetLocal, "net");
OFI_LOCAL_MAKER(ShmLocal, "shm");

struct MakerNames {
  template <class Maker>
  static std::string GetName(int) {
    if (std::is_same_v<Maker, TcpRxm>) return "TcpRxm";
    if (std::is_same_v<Maker, TcpRxmThread>) return "TcpRxmThread";
    if (std::is_same_v<Maker, Tcp>) return "Tcp";
    if (std::is_same_v<Maker, Net>) return "Net";
    if (std::is_same_v<Maker, Shm>) return "Shm";
    if (std::is_same_v<Maker, Sockets>) return "Sockets";
    if (std::is_same_v<Maker, TcpRxmLocal>) return "TcpRxmLocal";
    if (std::is_same_v<Maker, NetLocal>) return "NetLocal";
    if (std::is_same_v<Maker, ShmLocal>) return "ShmLocal";
    return "UdpRxd";
  }
};

using Makers = ::testing::Types<TcpRxm, TcpRxmThread, Tcp, Net, Shm, Sockets, UdpRxd, TcpRxmLocal, NetLocal, ShmLocal>;
INSTANTIATE_TYPED_TEST_SUITE_P(Ofi, RailSuite, Makers, MakerNames);

}  // namespace
}  // namespace railshmem::testing_support
