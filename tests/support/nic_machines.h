// SPDX-License-Identifier: BSD-3-Clause
// Machines as data for the tests of the choice of NICs: what public documentation and listings of them show (lspci,
// lstopo, `nvidia-smi topo -m`, fi_info), reduced to what counts.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "transports/ofi/nic_facts.h"

namespace railshmem::testing_support {

using ofi::AddressFamily;
using ofi::NicFacts;

struct MachineMap {
  std::vector<NicFacts> listed;  ///< as fi_getinfo lists them
  std::vector<Place> gpus;
  int packages = 1;

  /// PEs in order over the packages: the first half on the first of two.
  std::vector<Place> bound_pes(size_t n) const {
    std::vector<Place> pes;
    for (size_t pe = 0; pe < n; ++pe) {
      const int package = static_cast<int>(pe * static_cast<size_t>(packages) / n);
      pes.push_back({package, package, {}});
    }
    return pes;
  }
  std::vector<Place> gpu_pes(size_t n) const {
    std::vector<Place> pes;
    for (size_t pe = 0; pe < n; ++pe) pes.push_back(gpus[pe * gpus.size() / std::max(n, gpus.size())]);
    return pes;
  }
  const NicFacts& operator[](size_t entry) const { return listed[entry]; }
};

/// Behind the switch whose upstream port is on `bus`, at the downstream port `port`.
inline Place behind_switch(int package, int bus, int port) {
  return {package,
          package,
          {text("0000:%02x:01.0", bus), text("0000:%02x:00.0", bus + 1), text("0000:%02x:%02x.0", bus + 2, port)}};
}

inline NicFacts pci_nic(const char* provider, std::string domain, int bus, int function, uint64_t gigabits,
                        Place place) {
  NicFacts nic;
  nic.provider = provider;
  nic.device = domain;
  nic.domain = std::move(domain);
  nic.bus = nic.pci = text("0000:%02x:00.%x", bus, function);
  nic.speed = gigabits * 1000000000u;
  nic.network = provider;
  nic.ordered = true;
  nic.place = std::move(place);
  return nic;
}

inline NicFacts socket_nic(const char* provider, std::string interface, AddressFamily family = AddressFamily::ipv4) {
  NicFacts nic;
  nic.provider = provider;
  nic.interface = interface;
  nic.loopback = interface == "lo";
  nic.host_bridge = interface == "docker0";
  nic.domain = std::move(interface);
  nic.family = family;
  nic.ordered = true;
  return nic;
}

inline void add_sockets(MachineMap& machine, const std::vector<std::string>& interfaces) {
  for (const char* provider : {"tcp;ofi_rxm", "net", "sockets"})
    for (const std::string& interface : interfaces)
      for (const AddressFamily family : {AddressFamily::ipv4, AddressFamily::ipv6_link_local})
        machine.listed.push_back(socket_nic(provider, interface, family));
  NicFacts shm;
  shm.provider = shm.domain = "shm";
  shm.loopback = true;
  machine.listed.push_back(shm);
}

/// DGX H100: two sockets; each of eight switches has one GPU and one ConnectX-7 with 400 Gb/s; two cards of two ports
/// with 200 Gb/s for storage, one at each socket. Names are numbered by bus address, so mlx5_1, 2, 7 and 8 are storage.
inline MachineMap dgx_h100() {
  MachineMap machine;
  machine.packages = 2;
  const int compute[] = {0x18, 0x40, 0x4f, 0x5e, 0x9a, 0xc0, 0xce, 0xdc};
  const int names[] = {0, 3, 4, 5, 6, 9, 10, 11};
  for (int i = 0; i < 8; ++i) {
    machine.listed.push_back(pci_nic("verbs;ofi_rxm", "mlx5_" + std::to_string(names[i]), compute[i], 0, 400,
                                     behind_switch(i / 4, compute[i] - 3, 0)));
    machine.gpus.push_back(behind_switch(i / 4, compute[i] - 3, 1));
  }
  for (int card = 0; card < 2; ++card)
    for (int port = 0; port < 2; ++port)
      machine.listed.push_back(pci_nic("verbs;ofi_rxm", "mlx5_" + std::to_string(1 + 6 * card + port),
                                       card ? 0xaa : 0x29, port, 200,
                                       {card, card, {card ? "0000:a9:01.0" : "0000:28:01.0"}}));
  add_sockets(machine, {"eno3", "docker0", "lo"});
  return machine;
}

/// p5.48xlarge: two sockets; each of eight switches has one GPU and four EFA interfaces with 100 Gb/s. libfabric lists
/// each interface twice, as efa and as efa-direct, which do not talk to each other.
inline MachineMap p5_48xlarge() {
  MachineMap machine;
  machine.packages = 2;
  for (uint64_t variant : {1, 2})
    for (int gpu = 0; gpu < 8; ++gpu)
      for (int i = 0; i < 4; ++i) {
        const int bus = 0x4f + 0x11 * gpu + i;
        machine.listed.push_back(
            pci_nic("efa", text("rdmap%ds0-rdm", bus), bus, 0, 100, behind_switch(gpu / 4, 0x10 * gpu, i)));
        machine.listed.back().ordered = false;
        machine.listed.back().variant = variant;
      }
  for (int gpu = 0; gpu < 8; ++gpu) machine.gpus.push_back(behind_switch(gpu / 4, 0x10 * gpu, 4));
  add_sockets(machine, {"enp71s0", "lo"});
  return machine;
}

/// A server with two sockets and a NIC at each, without switches and GPUs.
inline MachineMap numa_server() {
  MachineMap machine;
  machine.packages = 2;
  machine.listed.push_back(pci_nic("verbs;ofi_rxm", "mlx5_0", 0x31, 0, 200, {0, 0, {"0000:30:02.0"}}));
  machine.listed.push_back(pci_nic("verbs;ofi_rxm", "mlx5_1", 0xb1, 0, 200, {1, 1, {"0000:b0:02.0"}}));
  add_sockets(machine, {"eth0", "lo"});
  return machine;
}

inline MachineMap laptop() {
  MachineMap machine;
  add_sockets(machine, {"eth0", "wlan0", "docker0", "lo"});
  return machine;
}

}  // namespace railshmem::testing_support
