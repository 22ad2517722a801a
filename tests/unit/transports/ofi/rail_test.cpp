// SPDX-License-Identifier: BSD-3-Clause
// The rail suite on every provider that needs no hardware.
#include <ostream>
#include <string>

#include "tests/support/ofi_fabric.h"
#include "tests/support/rail_suite.h"

namespace railshmem::testing_support {
namespace {

struct Maker {
  using FabricType = ofi::Fabric;
  const char* name;
  const char* provider;
  const char* progress = "auto";
  const char* register_local = "0";  ///< "1": as if the provider asked for FI_MR_LOCAL, which none of these does

  std::shared_ptr<ofi::Fabric> make(int pe) const {
    must_serve_one_process(provider);
    return make_ofi_fabric({{"SHMEM_OFI_PROVIDER", provider},
                            {"SHMEM_OFI_PROGRESS", progress},
                            {"SHMEM_OFI_REGISTER_LOCAL", register_local}},
                           pe);
  }
  friend void PrintTo(const Maker& maker, std::ostream* out) { *out << maker.name; }
};

using OfiRails = RailSuite<Maker>;
RAILSHMEM_RAIL_SUITE(OfiRails)
INSTANTIATE_TEST_SUITE_P(Over, OfiRails,
                         testing::Values(Maker{"TcpRxm", "tcp;ofi_rxm"}, Maker{"TcpRxmThread", "tcp;ofi_rxm", "thread"},
                                         Maker{"Tcp", "tcp"}, Maker{"Net", "net"}, Maker{"Shm", "shm"},
                                         Maker{"Sockets", "sockets"}, Maker{"UdpRxd", "udp;ofi_rxd"},
                                         Maker{"TcpRxmLocal", "tcp;ofi_rxm", "auto", "1"},
                                         Maker{"NetLocal", "net", "auto", "1"}, Maker{"ShmLocal", "shm", "auto", "1"}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace railshmem::testing_support
