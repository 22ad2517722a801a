// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "perftest/info/info.h"

#ifdef RAILSHMEM_INFO_HWLOC
#include <hwloc.h>

#include <memory>
#include <stdexcept>
#include <type_traits>
#endif

namespace railshmem::info {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// From sysfs, so that interfaces appear also where hwloc was built without I/O support.
Json interfaces() {
  Json out = Json::array();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/net", ignored)) {
    Json nic{{"name", entry.path().filename()}, {"state", first_line(entry.path() / "operstate")}};
    const std::string speed = first_line(entry.path() / "speed");  // Mbit/s, -1 or unreadable when unknown
    if (!speed.empty() && speed[0] != '-') nic["megabit_s"] = std::stol(speed);
    const std::string node = first_line(entry.path() / "device/numa_node");
    if (!node.empty() && node[0] != '-') nic["numa_node"] = std::stoi(node);
    out.push_back(nic);
  }
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/infiniband", ignored)) {
    Json nic{{"name", entry.path().filename()}, {"kind", "rdma"}};
    const std::string node = first_line(entry.path() / "device/numa_node");
    if (!node.empty() && node[0] != '-') nic["numa_node"] = std::stoi(node);
    out.push_back(nic);
  }
  return out;
}

#ifdef RAILSHMEM_INFO_HWLOC
struct Destroy {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};

Json machine() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::runtime_error("hwloc_topology_init failed");
  const std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy> topology(raw);
  if (hwloc_topology_load(raw) != 0) throw std::runtime_error("hwloc cannot read this machine's topology");
  const auto count = [&](hwloc_obj_type_t type) { return hwloc_get_nbobjs_by_type(raw, type); };
  Json out{{"packages", count(HWLOC_OBJ_PACKAGE)},
           {"cores", count(HWLOC_OBJ_CORE)},
           {"cpus", count(HWLOC_OBJ_PU)},
           {"numa", Json::array()}};
  if (const hwloc_obj_t package = hwloc_get_obj_by_type(raw, HWLOC_OBJ_PACKAGE, 0))
    if (const char* model = hwloc_obj_get_info_by_name(package, "CPUModel")) out["model"] = model;
  for (int i = 0; i < count(HWLOC_OBJ_NUMANODE); ++i) {
    const hwloc_obj_t node = hwloc_get_obj_by_type(raw, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    char cpus[256] = "";
    hwloc_bitmap_list_snprintf(cpus, sizeof cpus, node->cpuset);
    out["numa"].push_back({{"node", node->os_index}, {"cpus", cpus}, {"bytes", node->attr->numanode.local_memory}});
  }
  return out;
}
#else
Json machine() {
  return {{"cpus", sysconf(_SC_NPROCESSORS_ONLN)}, {"numa", Json::array()}};
}
#endif

}  // namespace

Json topology() {
  Json out = machine();
  cpu_set_t mask;
  out["usable_cpus"] = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
  out["interfaces"] = interfaces();
  return out;
}

}  // namespace railshmem::info
