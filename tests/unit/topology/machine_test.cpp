// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/machine.h"

#include <gtest/gtest.h>

#include "src/base/error.h"

namespace railshmem {
namespace {

/// Two packages of two CPUs; behind the first a switch with two devices, at the second one device without a switch.
constexpr const char* kMachine = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f" allowed_cpuset="0x0000000f" nodeset="0x00000003" complete_nodeset="0x00000003" allowed_nodeset="0x00000003" gp_index="1">
  <object type="Package" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="2">
   <object type="NUMANode" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3" local_memory="1048576"/>
   <object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="4"/>
   <object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="5"/>
   <object type="Bridge" gp_index="20" bridge_type="0-1" depth="0" bridge_pci="0000:[15-1f]">
    <object type="Bridge" gp_index="21" bridge_type="1-1" depth="1" bridge_pci="0000:[16-19]" pci_busid="0000:15:01.0" pci_type="0604 [8086:352a] [8086:0000] 30" pci_link_speed="63.0">
     <object type="Bridge" gp_index="22" bridge_type="1-1" depth="2" bridge_pci="0000:[17-19]" pci_busid="0000:16:00.0" pci_type="0604 [1000:c030] [1000:0000] b0" pci_link_speed="63.0">
      <object type="Bridge" gp_index="23" bridge_type="1-1" depth="3" bridge_pci="0000:[18-18]" pci_busid="0000:17:00.0" pci_type="0604 [1000:c030] [1000:0000] b0" pci_link_speed="63.0">
       <object type="PCIDev" gp_index="24" pci_busid="0000:18:00.0" pci_type="0207 [15b3:1021] [15b3:0041] 00" pci_link_speed="63.0"/>
      </object>
      <object type="Bridge" gp_index="25" bridge_type="1-1" depth="3" bridge_pci="0000:[19-19]" pci_busid="0000:17:01.0" pci_type="0604 [1000:c030] [1000:0000] b0" pci_link_speed="63.0">
       <object type="PCIDev" gp_index="26" pci_busid="0000:19:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63.0"/>
      </object>
     </object>
    </object>
   </object>
  </object>
  <object type="Package" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="6">
   <object type="NUMANode" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="7" local_memory="1048576"/>
   <object type="PU" os_index="2" cpuset="0x00000004" complete_cpuset="0x00000004" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="8"/>
   <object type="PU" os_index="3" cpuset="0x00000008" complete_cpuset="0x00000008" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="9"/>
   <object type="Bridge" gp_index="30" bridge_type="0-1" depth="0" bridge_pci="0000:[a8-aa]">
    <object type="PCIDev" gp_index="31" pci_busid="0000:a9:00.0" pci_type="0200 [15b3:1021] [15b3:0041] 00" pci_link_speed="31.5"/>
   </object>
  </object>
 </object>
</topology>
)";

cpu_set_t cpus(std::initializer_list<int> list) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : list) CPU_SET(cpu, &set);
  return set;
}

bool same(const cpu_set_t& a, const cpu_set_t& b) {
  return CPU_EQUAL(&a, &b) != 0;
}

TEST(Machine, FindsPackagesNumaNodesAndBridges) {
  Machine machine;
  try {
    machine = Machine::from_xml(kMachine);
  } catch (const Error& error) {
    if (std::string(error.what()).find("without hwloc") != std::string::npos) GTEST_SKIP() << error.what();
    throw;
  }
  const Place nic = machine.of_pci("0000:18:00.0");
  const Place gpu = machine.of_pci("0000:19:00.0");
  const Place other = machine.of_pci("0000:a9:00.0");
  EXPECT_EQ(nic.bridges, (std::vector<std::string>{"0000:15:01.0", "0000:16:00.0", "0000:17:00.0"}));
  EXPECT_EQ(nic.numa, 0);
  EXPECT_EQ(other.package, 1);
  EXPECT_TRUE(other.bridges.empty());
  EXPECT_LT(distance(nic, gpu), kSameNuma);
  EXPECT_EQ(distance(nic, machine.of_cpus(cpus({0, 1}))), kSameNuma);
  EXPECT_EQ(distance(nic, machine.of_cpus(cpus({3}))), kOtherPackage);
  EXPECT_EQ(distance(other, machine.of_cpus(cpus({3}))), kSameNuma);
  EXPECT_EQ(distance(nic, machine.of_cpus(cpus({1, 2}))), kUnknownDistance) << "not bound to one package";
  EXPECT_EQ(distance(nic, machine.of_cpus(cpus({}))), kUnknownDistance);
  EXPECT_TRUE(same(machine.cpus_near("0000:19:00.0"), cpus({0, 1})));
  EXPECT_TRUE(same(machine.cpus_near("0000:a9:00.0"), cpus({2, 3})));
  EXPECT_TRUE(same(machine.cpus_near("0000:77:00.0"), cpus({})));
  EXPECT_EQ(machine.of_pci("0000:77:00.0").package, -1);
  EXPECT_EQ(machine.of_pci("nonsense").package, -1);
}

TEST(Machine, ReadsThisOne) {
  const Machine machine = Machine::read();
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  EXPECT_GE(machine.of_cpus(mine).package, -1);
  EXPECT_EQ(machine.of_pci("ffff:ff:1f.7").package, -1);
}

TEST(Machine, RefusesWhatIsNoDescription) {
  EXPECT_THROW(Machine::from_xml("<topology>"), Error);
}

}  // namespace
}  // namespace railshmem
