// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/machine.h"

#include "src/base/error.h"
#include "src/base/log.h"

#if RAILSHMEM_HAVE_HWLOC
#include <hwloc.h>
#include <hwloc/glibc-sched.h>

#include <algorithm>
#endif

namespace railshmem {

#if RAILSHMEM_HAVE_HWLOC
namespace {

/// Only what places are made of: without caches and cores it loads faster, and without operating system devices
/// hwloc asks no GPU library.
void keep_what_counts(hwloc_topology_t tree) {
  hwloc_topology_set_all_types_filter(tree, HWLOC_TYPE_FILTER_KEEP_NONE);  // it keeps the machine, NUMA nodes and CPUs
  hwloc_topology_set_type_filter(tree, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(tree, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_type_filter(tree, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // Not with libpciaccess, which leaks: hwloc's Linux component reads the bus from /sys as well.
  hwloc_topology_set_components(tree, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "pci");
  // Also the nodes that this PE is not bound to: the other PEs of the host may be.
  hwloc_topology_set_flags(tree, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
}

/// Number of the one object of the type that has CPUs of the set; -1 when there are more, or none.
int the_one(hwloc_topology_t tree, hwloc_obj_type_t type, hwloc_const_cpuset_t cpus) {
  int found = -1;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(tree, type, object));) {
    if (!hwloc_bitmap_intersects(object->cpuset, cpus)) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(object->logical_index);
  }
  return found;
}

Place of_set(hwloc_topology_t tree, hwloc_const_cpuset_t cpus) {
  Place place;
  place.package = the_one(tree, HWLOC_OBJ_PACKAGE, cpus);
  place.numa = the_one(tree, HWLOC_OBJ_NUMANODE, cpus);
  return place;
}

std::string bus_address(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& pci) {
  return text("%04x:%02x:%02x.%x", static_cast<unsigned>(pci.domain), pci.bus, pci.dev, pci.func);
}

}  // namespace

void Machine::Destroy::operator()(hwloc_topology* tree) const noexcept {
  hwloc_topology_destroy(tree);
}

hwloc_topology* Machine::begin() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::bad_alloc();
  tree_.reset(raw);
  keep_what_counts(raw);
  return raw;
}

Machine Machine::read() {
  Machine machine;
  if (hwloc_topology_load(machine.begin()) != 0) {
    log_info("hwloc cannot read this machine: NICs are chosen without regard to their distance");
    machine.tree_.reset();
  }
  return machine;
}

Machine Machine::from_xml(const std::string& xml) {
  Machine machine;
  const hwloc_topology_t raw = machine.begin();
  if (hwloc_topology_set_xmlbuffer(raw, xml.c_str(), static_cast<int>(xml.size() + 1)) != 0 ||
      hwloc_topology_load(raw) != 0)
    throw Error("hwloc cannot read this description of a machine");
  return machine;
}

Place Machine::of_cpus(const cpu_set_t& cpus) const {
  if (!tree_) return {};
  const std::unique_ptr<hwloc_bitmap_s, decltype([](hwloc_bitmap_t set) { hwloc_bitmap_free(set); })> set(
      hwloc_bitmap_alloc());
  if (!set) throw std::bad_alloc();
  if (hwloc_cpuset_from_glibc_sched_affinity(tree_.get(), set.get(), &cpus, sizeof cpus) != 0) return {};
  return of_set(tree_.get(), set.get());
}

cpu_set_t Machine::cpus_near(const std::string& address) const {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  const hwloc_obj_t device = tree_ ? hwloc_get_pcidev_by_busidstring(tree_.get(), address.c_str()) : nullptr;
  if (device != nullptr)
    hwloc_cpuset_to_glibc_sched_affinity(tree_.get(), hwloc_get_non_io_ancestor_obj(tree_.get(), device)->cpuset, &cpus,
                                         sizeof cpus);
  return cpus;
}

Place Machine::of_pci(const std::string& address) const {
  const hwloc_obj_t device = tree_ ? hwloc_get_pcidev_by_busidstring(tree_.get(), address.c_str()) : nullptr;
  if (!device) return {};
  Place place = of_set(tree_.get(), hwloc_get_non_io_ancestor_obj(tree_.get(), device)->cpuset);
  for (hwloc_obj_t above = device->parent; above && above->type == HWLOC_OBJ_BRIDGE; above = above->parent)
    if (above->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI)
      place.bridges.push_back(bus_address(above->attr->bridge.upstream.pci));
  std::reverse(place.bridges.begin(), place.bridges.end());
  return place;
}

#else

void Machine::Destroy::operator()(hwloc_topology*) const noexcept {}
Machine Machine::read() {
  return {};
}
Machine Machine::from_xml(const std::string&) {
  throw Error("this library was built without hwloc; configure with -DRAILSHMEM_HWLOC=ON");
}
Place Machine::of_cpus(const cpu_set_t&) const {
  return {};
}
Place Machine::of_pci(const std::string&) const {
  return {};
}
cpu_set_t Machine::cpus_near(const std::string&) const {
  return {};
}

#endif

}  // namespace railshmem
